package demo

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// adding has networks add two marked numbers of fifty: an LSTM and a GRU learn to, and a
// simple RNN does not.
var adding = Demo{Name: "adding", About: "the sum of two marked numbers of fifty, by an LSTM, a GRU and an RNN", Aside: []string{"RNN"}, Seconds: 8.3, Run: runAdding}

const addingLength = 50

func runAdding(s *Stage) error {
	s.say("The input is fifty numbers between 0 and 1, two of them marked; the network learns the sum of those two. A network that always answers 1 has a mean squared error of 0.167.")
	test, want := text.Task{Count: len(s.few(500)), Min: addingLength, Seed: s.stream("test", 0)}.Adding()
	target := grad.Const(want)
	errors, chart := map[string]any{}, &picture.Chart{Title: "mean squared error of each hundred steps", X: picture.Axis{Label: "hundreds of steps", Whole: true}}
	var saved *reader
	for i, r := range []*reader{
		newReader(s, "LSTM", &sequence.LSTM{In: 2, Hidden: 32, ForgetBias: 1}, 32, 1),
		newReader(s, "GRU", &sequence.GRU{In: 2, Hidden: 32}, 32, 1),
		newReader(s, "RNN", &sequence.RNN{In: 2, Hidden: 32}, 32, 1),
	} {
		step := uint64(0)
		l := &training{
			Stage: s, optimiser: &train.Adam{LR: 3e-3}, clip: 1, epochs: s.epochs(15),
			loss: func(t *grad.Tape, _ []int32) *grad.Var {
				step++
				x, sum := text.Task{Count: len(s.few(64)), Min: addingLength, Seed: s.stream("steps", step)}.Adding()
				return r.forward(t, x.Graph(), x.X).MSE(grad.Const(sum))
			},
			score: func() (float64, string) {
				return float64(r.forward(grad.NewEval(), test.Graph(), test.X).MSE(target).Value().Data[0]), "test_error"
			},
			every: 5,
		}
		s.print("%s\n", r.Name)
		if err := l.run(); err != nil {
			return err
		}
		errors[r.Name] = l.scores[len(l.scores)-1]
		chart.Series = append(chart.Series, curve(r.Name, i, l.losses))
		if saved == nil {
			saved = r
		}
	}
	s.result(map[string]any{"test_error": errors})
	s.print("\nmean squared error on new sequences (always saying 1: 0.167)\n")
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		e := errors[name].(float64) // a tenth of what saying 1 has
		s.print("  %-4s  %.4f: it %s\n", name, e, verdict(1-e/(0.167)))
	}
	if err := s.draw([]picture.Panel{chart}); err != nil {
		return err
	}
	return s.keep(saved)
}
