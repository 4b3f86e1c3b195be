package train

import (
	"bytes"
	"fmt"
	"time"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// Epoch is what is known about one epoch when it is over.
type Epoch struct {
	N    int     // counts from 1
	Loss float64 // the training loss, before the step; of several steps, the mean
	Scores
	Rate    float64       // the optimiser's LR times its schedule's factor; 0 of an optimiser of another package
	Norm    float64       // of the last step's gradients, before ClipNorm; 0 without ClipNorm and Norms
	MaxNorm float64       // the largest of the epoch's steps; 0 too of epochs in checkpoints of an earlier version
	Best    bool          // it is the best so far
	Waited  int           // epochs since the last progress, as Fit.Patience counts them; not in a checkpoint
	Took    time.Duration // the step and the evaluation; not in a checkpoint
}

// Step is what is known about one step when its gradients are.
type Step struct {
	Epoch, N int     // N is t.Step(), which counts the steps of all epochs from 1
	Loss     float64 // before the step
	Rate     float64 // as an Epoch has it
	Norm     float64 // of the gradients of all Params together, after ClipValue and before ClipNorm
}

// History is the epochs of a run, in order.
type History struct {
	Epochs []Epoch
}

// Best returns the best epoch. ok is false if there was no evaluation, or none
// without a NaN.
func (h *History) Best() (best Epoch, ok bool) {
	for _, e := range h.Epochs {
		if e.Best {
			best, ok = e, true
		}
	}
	return best, ok
}

// record is a history as it stands in a checkpoint: a line for each epoch of
// loss, rate, norm, and loss and accuracy of the three parts.
type record struct {
	Epochs []row       `json:"epochs"`
	Best   []int       `json:"best"`            // their numbers
	Norms  []jsonFloat `json:"norms,omitempty"` // the largest of each epoch, or none where all are 0
}

// row is an epoch of a record.
type row [9]jsonFloat

// UnmarshalJSON reads exactly nine numbers: by itself a shorter list would be
// filled up, and three bytes become an epoch.
func (r *row) UnmarshalJSON(b []byte) error {
	if err := jsonread.Unmarshal(b, (*[9]jsonFloat)(r)); err != nil {
		return err
	}
	if n := bytes.Count(b, []byte(",")) + 1; n != len(r) {
		return fmt.Errorf("an epoch has %d numbers, want %d", n, len(r))
	}
	return nil
}

func (h *History) record() *record {
	r := &record{Epochs: []row{}, Best: []int{}}
	norms := make([]jsonFloat, len(h.Epochs))
	for i, e := range h.Epochs {
		if norms[i] = jsonFloat(e.MaxNorm); e.MaxNorm != 0 {
			r.Norms = norms
		}
		r.Epochs = append(r.Epochs, row{
			jsonFloat(e.Loss), jsonFloat(e.Rate), jsonFloat(e.Norm),
			jsonFloat(e.Train.Loss), jsonFloat(e.Train.Accuracy),
			jsonFloat(e.Val.Loss), jsonFloat(e.Val.Accuracy),
			jsonFloat(e.Test.Loss), jsonFloat(e.Test.Accuracy),
		})
		if e.Best {
			r.Best = append(r.Best, e.N)
		}
	}
	return r
}

// epochs is the reverse of record; of none it is none.
func (r *record) epochs() []Epoch {
	var out []Epoch
	if r == nil {
		return nil
	}
	for i, v := range r.Epochs {
		score := func(at int) Score { return Score{Loss: float64(v[at]), Accuracy: float64(v[at+1])} }
		out = append(out, Epoch{
			N: i + 1, Loss: float64(v[0]), Rate: float64(v[1]), Norm: float64(v[2]),
			Scores: Scores{Train: score(3), Val: score(5), Test: score(7)},
		})
	}
	for i, v := range r.Norms {
		out[i].MaxNorm = float64(v)
	}
	for _, n := range r.Best {
		out[n-1].Best = true
	}
	return out
}
