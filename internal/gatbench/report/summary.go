package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/train"
)

// Summary is what came of one training. The scores are those of the best epoch.
type Summary struct {
	Event         string  `json:"event"` // "summary"
	Dataset       string  `json:"dataset"`
	Model         string  `json:"model"`
	Preset        string  `json:"preset"`
	Features      string  `json:"features"`
	Encoding      string  `json:"encoding,omitempty"`      // what nodes have beside them
	EdgeFeatures  int     `json:"edge_features,omitempty"` // that the layers read
	EdgeKinds     int     `json:"edge_kinds,omitempty"`    // the same
	Seed          uint64  `json:"seed"`
	Splits        string  `json:"splits,omitempty"` // how the data was divided, where it does not say so itself; empty: it does, or a flag did
	Select        string  `json:"select"`
	Batch         int     `json:"batch,omitempty"`  // nodes a step
	Fanout        string  `json:"fanout,omitempty"` // neighbours drawn for a node, a number a layer; empty: all are read
	Epochs        int     `json:"epochs"`           // that were run, before a --resume too
	BestEpoch     int     `json:"best_epoch"`       // the one that Select chose; 0: none
	TrainAccuracy Number  `json:"train_accuracy"`   // these three are null where a part has not what the score compares
	ValAccuracy   Number  `json:"val_accuracy"`
	TestAccuracy  Number  `json:"test_accuracy"`
	Learns        string  `json:"learns,omitempty"` // labels or numbers; empty: classes
	Metrics               // of one training that is reported; of many nil
	Metric        Metric  `json:"-"`                            // what the accuracies are
	Constant      *Number `json:"test_constant,omitempty"`      // the score of always the same answer
	WithoutEdges  *Number `json:"test_without_edges,omitempty"` // that of the same network without messages
	Verdict       string  `json:"verdict,omitempty"`            // a sentence, if the model is no better than one of these
	EpochMS       float64 `json:"epoch_ms"`                     // the median
	TotalMS       float64 `json:"total_ms"`
	PeakMiB       float64 `json:"peak_rss_mib,omitempty"` // of the process so far, where it is known
	Weights       string  `json:"edge_weights,omitempty"` // "used", "not used"; empty: there are none
	Ranks         *Ranks  `json:"job,omitempty"`          // that shared the training; nil: one process
	Saved         string  `json:"saved,omitempty"`
	Checkpoint    string  `json:"checkpoint,omitempty"`
	CSV           string  `json:"csv,omitempty"` // this and the following: files that were written
	Picture       string  `json:"picture,omitempty"`
	Attention     string  `json:"attention,omitempty"` // joined by commas
	Log           string  `json:"log,omitempty"`
	Interrupted   bool    `json:"interrupted"`
	Diverged      bool    `json:"diverged"`
}

// EpochLine is what one epoch is for machines.
type EpochLine struct {
	Event         string  `json:"event"` // "epoch"
	Dataset       string  `json:"dataset"`
	Seed          uint64  `json:"seed"`
	Epoch         int     `json:"epoch"` // from 1
	Loss          Number  `json:"loss"`  // with dropout, before the step
	TrainAccuracy Number  `json:"train_accuracy"`
	ValLoss       Number  `json:"val_loss"`
	ValAccuracy   Number  `json:"val_accuracy"`
	TestAccuracy  Number  `json:"test_accuracy"`
	Best          bool    `json:"best"`
	Metric        Metric  `json:"-"`
	MS            float64 `json:"ms"`
}

// Number is a number that may be none, which JSON calls null.
type Number float64

// MarshalJSON writes NaN and the infinities as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("%.40s stands there, want a number or null", b)
	}
	*n = Number(f)
	return nil
}

// Overall is what several trainings have in common.
type Overall struct {
	Event   string  `json:"event"` // "seeds"
	Dataset string  `json:"dataset"`
	Seeds   int     `json:"seeds"`
	Mean    Number  `json:"test_accuracy_mean"`
	Std     Number  `json:"test_accuracy_std"` // of the sample: divided by seeds−1
	TotalMS float64 `json:"total_ms"`
	Metric  Metric  `json:"-"`

	Means map[string]Spread `json:"means,omitempty"` // of what else there is to say of all tests, by its name in a Summary
}

// Take completes s with what a training was like, its scores those of the best epoch.
func (s *Summary) Take(h *train.History, took time.Duration) {
	s.Event, s.Epochs, s.TotalMS, s.PeakMiB = "summary", len(h.Epochs), Milliseconds(took), usage.PeakMiB()
	if best, ok := h.Best(); ok {
		s.BestEpoch = best.N
		s.TrainAccuracy, s.ValAccuracy, s.TestAccuracy = Number(best.Train.Accuracy), Number(best.Val.Accuracy), Number(best.Test.Accuracy)
	}
	var times []time.Duration
	for _, e := range h.Epochs {
		if e.Took > 0 { // not of a run before this one
			times = append(times, e.Took)
		}
	}
	if slices.Sort(times); len(times) > 0 {
		s.EpochMS = Milliseconds(times[len(times)/2])
	}
}

// NewEpochLine returns the line of an epoch of a training on a dataset.
func NewEpochLine(dataset string, seed uint64, e train.Epoch) EpochLine {
	return EpochLine{
		Event: "epoch", Dataset: dataset, Seed: seed, Epoch: e.N, Loss: Number(e.Loss),
		TrainAccuracy: Number(e.Train.Accuracy), ValLoss: Number(e.Val.Loss), ValAccuracy: Number(e.Val.Accuracy), TestAccuracy: Number(e.Test.Accuracy),
		Best: e.Best, MS: Milliseconds(e.Took),
	}
}

// Scores are those of the epoch, for a line of progress after where it is in its training.
func (l *EpochLine) Scores() string {
	validation := strings.TrimSpace(l.Metric.Shown(float64(l.ValAccuracy)))
	if l.Metric.Says != "" {
		validation = l.Metric.Says + " " + validation
	}
	return fmt.Sprintf("  validation %s  loss %.4f  seed %d  %s", validation, float64(l.Loss), l.Seed, l.Dataset)
}

// NewOverall returns what trainings on a dataset have in common.
func NewOverall(dataset string, runs []Summary) Overall {
	o := Overall{Event: "seeds", Dataset: dataset, Seeds: len(runs)}
	var tests []float64
	for _, s := range runs {
		o.Metric = s.Metric
		tests = append(tests, float64(s.TestAccuracy))
		o.TotalMS += s.TotalMS
	}
	mean, std := MeanStd(tests)
	o.Mean, o.Std = Number(mean), Number(std)
	o.Means = spreads(runs)
	return o
}
