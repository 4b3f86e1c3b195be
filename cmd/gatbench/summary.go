package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/usage"
	"github.com/edgewise-ml/edgewise/train"
)

// summary is what came of one training. The scores are those of the best epoch.
type summary struct {
	Event         string  `json:"event"` // "summary"
	Dataset       string  `json:"dataset"`
	Model         string  `json:"model"`
	Preset        string  `json:"preset"`
	Features      form    `json:"features"`
	Seed          uint64  `json:"seed"`
	Select        string  `json:"select"`
	Batch         int     `json:"batch,omitempty"`  // nodes a step
	Fanout        string  `json:"fanout,omitempty"` // neighbours drawn for a node, a number a layer; empty: all are read
	Epochs        int     `json:"epochs"`           // that were run, before a --resume too
	BestEpoch     int     `json:"best_epoch"`       // the one that Select chose; 0: none
	TrainAccuracy float64 `json:"train_accuracy"`
	ValAccuracy   float64 `json:"val_accuracy"`
	TestAccuracy  float64 `json:"test_accuracy"`
	*Quality              // of one training that is reported; of many nil
	EpochMS       float64 `json:"epoch_ms"` // the median
	TotalMS       float64 `json:"total_ms"`
	PeakMiB       float64 `json:"peak_rss_mib,omitempty"` // of the process so far, where it is known
	Weights       string  `json:"edge_weights,omitempty"` // "used", "not used"; empty: there are none
	Saved         string  `json:"saved,omitempty"`
	Checkpoint    string  `json:"checkpoint,omitempty"`
	CSV           string  `json:"csv,omitempty"` // this and the following: files that were written
	Plot          string  `json:"plot,omitempty"`
	Attention     string  `json:"attention,omitempty"` // joined by commas
	Log           string  `json:"log,omitempty"`
	Interrupted   bool    `json:"interrupted"`
	Diverged      bool    `json:"diverged"`
}

// epochLine is what one epoch is for machines.
type epochLine struct {
	Event         string  `json:"event"` // "epoch"
	Dataset       string  `json:"dataset"`
	Seed          uint64  `json:"seed"`
	Epoch         int     `json:"epoch"` // from 1
	Loss          number  `json:"loss"`  // with dropout, before the step
	TrainAccuracy float64 `json:"train_accuracy"`
	ValLoss       number  `json:"val_loss"`
	ValAccuracy   float64 `json:"val_accuracy"`
	TestAccuracy  float64 `json:"test_accuracy"`
	Best          bool    `json:"best"`
	MS            float64 `json:"ms"`
}

// number is a number that may be none, which JSON calls null.
type number float64

// MarshalJSON writes NaN and the infinities as null.
func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// overall is what several trainings have in common.
type overall struct {
	Event   string  `json:"event"` // "seeds"
	Dataset string  `json:"dataset"`
	Seeds   int     `json:"seeds"`
	Mean    float64 `json:"test_accuracy_mean"`
	Std     float64 `json:"test_accuracy_std"` // of the sample: divided by seeds−1
	TotalMS float64 `json:"total_ms"`
}

func summarise(h *train.History, r recipe, took time.Duration) summary {
	s := summary{
		Event: "summary", Dataset: r.Dataset, Model: r.Model, Preset: r.Preset, Features: r.Features, Seed: r.Seed, Select: r.Select, Batch: r.Batch, Fanout: r.Fanout,
		Epochs: len(h.Epochs), TotalMS: milliseconds(took), PeakMiB: usage.PeakMiB(),
	}
	if best, ok := h.Best(); ok {
		s.BestEpoch = best.N
		s.TrainAccuracy, s.ValAccuracy, s.TestAccuracy = best.Train.Accuracy, best.Val.Accuracy, best.Test.Accuracy
	}
	var times []time.Duration
	for _, e := range h.Epochs {
		if e.Took > 0 { // not of a run before this one
			times = append(times, e.Took)
		}
	}
	if slices.Sort(times); len(times) > 0 {
		s.EpochMS = milliseconds(times[len(times)/2])
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// meanStd returns the mean and the sample's standard deviation, 0 of one.
func meanStd(xs []float64) (mean, std float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		std += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(std / float64(len(xs)-1))
}

// reporter tells people or machines how a command gets on.
type reporter struct {
	*trainCommand
	printer
	task      *task
	recipe    recipe // of the first run
	bold      bool
	progress  *progress
	histories []seeded
}

func newReporter(e env, c *trainCommand, k *task, r recipe) *reporter {
	return &reporter{trainCommand: c, task: k, recipe: r, printer: printer{w: e.out}, bold: coloured(e.out), progress: newProgress(e.errOut)}
}

// coloured reports whether w shows escape sequences and its user wants them.
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// epoch reports one epoch.
func (r *reporter) epoch(seed uint64, e train.Epoch) {
	if !r.JSON {
		r.progress.show("epoch %d/%d  validation %.1f %%  loss %.4f  seed %d  %s", e.N, r.recipe.Epochs, 100*e.Val.Accuracy, e.Loss, seed, r.recipe.Dataset)
		return
	}
	r.encode(epochLine{
		Event: "epoch", Dataset: r.recipe.Dataset, Seed: seed, Epoch: e.N, Loss: number(e.Loss),
		TrainAccuracy: e.Train.Accuracy, ValLoss: number(e.Val.Loss), ValAccuracy: e.Val.Accuracy, TestAccuracy: e.Test.Accuracy,
		Best: e.Best, MS: milliseconds(e.Took),
	})
}

// run reports one training: in full if it is the only one.
func (r *reporter) run(s summary) error {
	switch r.progress.clear(); {
	case r.JSON:
		r.encode(s)
	case s.BestEpoch == 0:
	case r.Seeds > 1:
		r.printf("seed %-3d epoch %-5d train %5.1f %%  validation %5.1f %%  test %5.1f %%  %.2f s\n",
			s.Seed, s.BestEpoch, 100*s.TrainAccuracy, 100*s.ValAccuracy, 100*s.TestAccuracy, s.TotalMS/1000)
	default:
		r.single(s)
	}
	return r.err
}

// single prints all there is to say of one training.
func (r *reporter) single(s summary) {
	k := r.task
	r.printf("%s: %s; %d nodes, %d edges\n", k.Name, r.recipe.model().describe(&r.recipe, k.Classes), k.Graph.NumNodes(), k.Graph.NumEdges())
	r.paragraph("%s", r.settings())
	if text := r.recipe.batching(); text != "" {
		r.paragraph("%s", text)
	}
	r.printf("\n")
	if n := len(k.Splits); n > 0 && r.recipe.Splits == splitsOwn {
		r.printf("split %d of its %d, counted from 0; --split-number takes another\n\n", r.recipe.choice().index(n), n)
	}
	r.printf("%-10s  %6s  %s\n", "", "nodes", "accuracy")
	r.printf("%-10s  %6d  %6.1f %%\n", "train", len(k.split.Train), 100*s.TrainAccuracy)
	r.printf("%-10s  %6d  %6.1f %%\n", "validation", len(k.split.Val), 100*s.ValAccuracy)
	r.printf("%-10s  %6d  %6.1f %%\n", "test", len(k.split.Test), 100*s.TestAccuracy)
	if s.Quality != nil {
		r.printf("\n")
		r.paragraph("%s", s.Quality.says(s.TestAccuracy))
	}
	_, says, _ := criterion(s.Select)
	if s.Weights != "" {
		r.printf("\nthe weights of the edges are %s by %s\n", s.Weights, r.recipe.model().title)
	}
	r.printf("\n")
	r.paragraph("the model of epoch %d of %d: %s", s.BestEpoch, s.Epochs, says)
	if text := longer(s, r.recipe); text != "" {
		r.paragraph("%s", text)
	}
	r.printf("%.2f ms an epoch (median), %.2f s in all", s.EpochMS, s.TotalMS/1000)
	if s.PeakMiB > 0 {
		r.printf(", %.0f MiB of memory at most", s.PeakMiB)
	}
	r.printf("\n")
	r.files(s)
	if !s.Interrupted && !s.Diverged {
		r.printf("next: "+r.strong("%s")+"\n", r.command(r.advice(s)))
	}
}

// settings says whose settings the run has, in which form it reads the features,
// and why, as far as the data decided.
func (r *reporter) settings() string {
	part := func(name, because string) string {
		if because == "" {
			return name
		}
		return fmt.Sprintf("%s (%s)", name, because)
	}
	because := ""
	if own := r.task.suits(); r.Preset == nil && own.preset == r.recipe.Preset {
		because = own.because
	}
	return fmt.Sprintf("settings: %s; features: %s", part(r.recipe.Preset, because), part(string(r.recipe.Features), r.task.because(&r.recipe)))
}

// files says what was written where.
func (r *reporter) files(s summary) {
	for _, f := range []struct{ what, path string }{
		{"saved to", s.Saved}, {"checkpoint in", s.Checkpoint}, {"epochs in", s.CSV}, {"pictures in", s.Plot},
		{"attention in", s.Attention}, {"log in", s.Log},
	} {
		if f.path != "" {
			r.printf("%s %s\n", f.what, f.path)
		}
	}
}

// longer says what to try if a training ended too early: while it still got better,
// which is in the last twentieth of its epochs, or before it began to. A rule that
// always takes the last epoch says nothing of that, and all right cannot be better.
func longer(s summary, r recipe) string {
	switch stopped := s.Epochs < r.Epochs; {
	case s.Select == "last" || s.ValAccuracy == 1 || s.Interrupted || s.Diverged:
	case !stopped && s.BestEpoch >= s.Epochs-s.Epochs/20:
		return fmt.Sprintf("the best epoch is one of the last: a longer training may be better: --epochs %d", 5*r.Epochs)
	case stopped && s.BestEpoch <= 1+s.Epochs/50:
		return fmt.Sprintf("the best epoch is one of the first: the training may have stopped before it began to learn: --patience %d", 4*r.Patience)
	}
	return ""
}

// advice returns the flags to try next.
func (r *reporter) advice(s summary) string {
	if s.Saved != "" {
		return ""
	}
	return "--seeds 10"
}

// all reports what several trainings have in common.
func (r *reporter) all(runs []summary) error {
	o := overall{Event: "seeds", Dataset: r.recipe.Dataset, Seeds: len(runs)}
	var tests []float64
	for _, s := range runs {
		tests = append(tests, s.TestAccuracy)
		o.TotalMS += s.TotalMS
	}
	o.Mean, o.Std = meanStd(tests)
	if r.JSON {
		r.encode(o)
		return r.err
	}
	r.printf("\n%s: test accuracy "+r.strong("%.1f ± %.1f %%")+" over %d seeds, %.2f s in all\n", r.task.Name,
		100*o.Mean, 100*o.Std, o.Seeds, o.TotalMS/1000)
	r.printf("next: "+r.strong("%s")+"\n", r.command("--save "+word(r.fileName()+".safetensors")))
	return r.err
}

// fileName returns what a file about the dataset may be called.
func (r *reporter) fileName() string {
	base := filepath.Base(r.recipe.Dataset)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// command returns the command line to try next; without flags that which uses
// the saved model.
func (r *reporter) command(flags string) string {
	line := program + " eval " + word(r.Save)
	if flags != "" {
		line = program + " train" + r.recipe.flags(r.task.suits().preset, r.task.formFor(r.recipe.Preset))
	}
	if r.Data != "" {
		line += " --data " + word(r.Data)
	}
	return strings.TrimSpace(line + " " + flags)
}

func (r *reporter) strong(s string) string {
	if r.bold {
		return "\x1b[1m" + s + "\x1b[0m"
	}
	return s
}
