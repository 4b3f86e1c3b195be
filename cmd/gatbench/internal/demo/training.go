package demo

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

// training is a loop of epochs over batches.
type training struct {
	*Stage
	optimiser train.Optimiser
	clip      float64 // of the gradients' norm; 0: none
	epochs    int
	batches   func(epoch int) [][]int32 // the rows of each; one nil batch is all there is

	// loss is that of a batch.
	loss func(t *grad.Tape, rows []int32) *grad.Var
	// score is how good the model is after an epoch, and what that is called.
	score func() (value float64, name string)
	every int // score is asked for after every so many epochs, and after the last; 0: 1

	losses, scores, norms []float64 // of each epoch: means, but the largest norm
}

// run trains. It ends early, with an error, when the stage's context ends.
func (l *training) run() error {
	t := grad.NewTape(l.stream("dropout", 0))
	for epoch := range l.epochs {
		sum, norm, batches := 0.0, 0.0, l.batches(epoch)
		if l.Few > 0 {
			batches = batches[:min(len(batches), max(1, l.Few/25))]
		}
		for i, rows := range batches {
			if err := l.Ctx.Err(); err != nil {
				return fmt.Errorf("interrupted in epoch %d of %d", epoch+1, l.epochs)
			}
			t.Reset()
			loss := l.loss(t, rows)
			grads := t.Backward(loss)
			if l.clip > 0 {
				norm = max(norm, grads.ClipNorm(l.clip))
			}
			l.optimiser.Step(grads)
			sum += float64(loss.Value().Data[0])
			if !l.JSON {
				l.Progress.Show("%sepoch %d/%d  loss %.4f  batch %d of %d", l.Title, epoch+1, l.epochs, sum/float64(i+1), i+1, len(batches))
			}
		}
		l.losses, l.norms = append(l.losses, sum/float64(max(1, len(batches)))), append(l.norms, norm)
		if l.score != nil && ((epoch+1)%max(1, l.every) == 0 || epoch+1 == l.epochs) {
			value, name := l.score()
			l.scores = append(l.scores, value)
			l.report(epoch, value, name)
		}
	}
	return nil
}

// report says how an epoch went.
func (l *training) report(epoch int, value float64, name string) {
	loss := l.losses[epoch]
	if l.JSON {
		l.Out.Encode(map[string]any{"event": "epoch", "demo": l.demo.Name, "epoch": epoch + 1, "loss": report.Number(loss), name: report.Number(value)})
		return
	}
	l.Progress.Clear()
	l.Out.Printf("epoch %-4d loss %.4f   %s %.4g\n", epoch+1, loss, name, value)
}

// learnt is a network that has been trained, how that went, and what it costs by data that is not
// the test's: the less the better.
type learnt[M any] struct {
	net  M
	how  *training
	cost float64
	try  int // the how-manyeth it was, from 1 on
}

// bestOf trains a network up to so many times, each time with other first weights and draws, until
// one costs no more than enough, and returns the one that costs least. A training of as many epochs
// as were asked for is the only one.
func bestOf[M any](s *Stage, tries int, enough float64, fit func(s *Stage) (learnt[M], error)) (learnt[M], error) {
	var best learnt[M]
	for try := 1; try <= tries; try++ {
		own := *s
		if try > 1 {
			own.Seed = s.stream("try", uint64(try))
		}
		l, err := fit(&own)
		if err != nil {
			return best, err
		}
		if l.try = try; try == 1 || l.cost < best.cost {
			best = l
		}
		if best.cost <= enough || s.Epochs > 0 {
			break
		}
	}
	return best, nil
}

// byLength is the batches of sequences, so many in each, of lengths that are near.
func (s *Stage) byLength(lengths []int, size int) func(epoch int) [][]int32 {
	return func(epoch int) [][]int32 { return text.ByLength(lengths, size, s.stream("order", 0), epoch) }
}

// whole is the batches of data that is one batch.
func whole(int) [][]int32 { return [][]int32{nil} }
