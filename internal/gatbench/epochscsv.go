package gatbench

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/train"
)

// seeded is the history of a seed.
type seeded struct {
	seed    uint64
	history *train.History
}

// writeScores writes the epochs of all runs to the file of --csv, where validation has one
// score, which the column is called by.
func (o *outputFlags) writeScores(runs []seeded, score string) error {
	if o.CSV == "" || len(runs) == 0 {
		return nil
	}
	return atomicfile.Write(o.CSV, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "seed,epoch,loss,%s,best,ms\n", score); err != nil {
			return err
		}
		for _, r := range runs {
			for _, e := range r.history.Epochs {
				best := 0
				if e.Best {
					best = 1
				}
				if _, err := fmt.Fprintf(w, "%d,%d,%g,%g,%d,%.3f\n", r.seed, e.N, e.Loss, e.Val.Accuracy, best, report.Milliseconds(e.Took)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// writeCSV writes the epochs of all runs to the file of --csv. key is what a score is.
func (o *outputFlags) writeCSV(runs []seeded, m report.Metric) error {
	key := cmp.Or(m.Key, "accuracy")
	if o.CSV == "" || len(runs) == 0 {
		return nil
	}
	return atomicfile.Write(o.CSV, func(w io.Writer) error {
		head := strings.ReplaceAll("seed,epoch,loss,train_accuracy,val_loss,val_accuracy,test_accuracy,best,ms", "accuracy", key)
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		for _, r := range runs {
			for _, e := range r.history.Epochs {
				best := 0
				if e.Best {
					best = 1
				}
				if _, err := fmt.Fprintf(w, "%d,%d,%g,%g,%g,%g,%g,%d,%.3f\n", r.seed, e.N, e.Loss, e.Train.Accuracy,
					e.Val.Loss, e.Val.Accuracy, e.Test.Accuracy, best, report.Milliseconds(e.Took)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
