package series

import (
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// Adding has networks add two marked numbers of fifty: an LSTM and a GRU learn to, and a
// simple RNN does not.
var Adding = stage.Demo{Name: "adding", About: "the sum of two marked numbers of fifty, by an LSTM, a GRU and an RNN", Aside: []string{"RNN"}, Seconds: 8.3, Act: stage.Func(runAdding)}

const addingLength = 50

func runAdding(s *stage.Stage) error {
	s.Say("The input is fifty numbers between 0 and 1, two of them marked; the network learns the sum of those two. A network that always answers 1 has a mean squared error of 0.167.")
	test, want := text.Task{Count: s.Count(500), Min: addingLength, Seed: s.Stream("test", 0)}.Adding()
	target := grad.Const(want)
	errors, chart := map[string]any{}, &picture.Chart{Title: "mean squared error of each hundred steps", X: picture.Axis{Label: "hundreds of steps", Whole: true}}
	var saved *reader
	for i, r := range []*reader{
		newReader(s, "LSTM", &sequence.LSTM{In: 2, Hidden: 32, ForgetBias: 1}, 32, 1),
		newReader(s, "GRU", &sequence.GRU{In: 2, Hidden: 32}, 32, 1),
		newReader(s, "RNN", &sequence.RNN{In: 2, Hidden: 32}, 32, 1),
	} {
		l := &stage.Training{
			Stage: s, Optimiser: &train.Adam{LR: 3e-3}, Clip: 1, Epochs: s.EpochsOr(15),
			Loss: func(t *grad.Tape, _ []int32) *grad.Var {
				x, sum := text.Task{Count: s.Count(64), Min: addingLength, Seed: s.Stream("steps", t.Step())}.Adding()
				return r.forward(t, x.Graph(), x.X).MSE(grad.Const(sum))
			},
			Score: func() (float64, error) {
				return float64(r.forward(grad.NewEval(), test.Graph(), test.X).MSE(target).Value().Data[0]), nil
			}, ScoreName: "test_error",
			Every: 5,
		}
		s.Print("%s\n", r.Name)
		if err := l.Run(); err != nil {
			return err
		}
		errors[r.Name] = stage.Last(l.Scores)
		chart.Series = append(chart.Series, stage.Curve(r.Name, i, l.Losses))
		if saved == nil {
			saved = r
		}
	}
	s.Result(map[string]any{"test_error": errors})
	s.Print("\nmean squared error on new sequences (always saying 1: 0.167)\n")
	for _, name := range []string{"LSTM", "GRU", "RNN"} {
		e := errors[name].(float64) // a tenth of what saying 1 has
		s.Print("  %-4s  %.4f: it %s\n", name, e, stage.Verdict(1-e/(0.167)))
	}
	s.Draw([]picture.Panel{chart})
	return s.Keep(saved)
}
