package memories

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// FastWeights finds the digit behind a letter with twenty units: a network whose past is a
// memory beside an LSTM, which must keep all pairs in its state.
var FastWeights = stage.Demo{Name: "fastweights", About: "c9k8j3f1??c is 9: twenty units with fast weights beside an LSTM of twenty", Aside: []string{"LSTM"}, Seconds: 13, Act: stage.Func(runFastWeights)}

// The task: pairs of a letter and a digit, and one letter again.
const (
	retrievePairs = 4
	retrieveBatch = 128
	retrieveUnits = 20
	retrieveWords = text.First + 26 + 10 + 1
)

// retriever reads letters and digits, and says a digit.
type retriever struct {
	Name   string
	Tokens *grad.Param    `json:"-"` // a row a token
	Cell   attention.Body // of twenty units
	Hidden layers.Linear
	Out    layers.Linear
}

func newRetriever(s *stage.Stage, name string, cell attention.Body) *retriever {
	const width, hidden = 100, 100
	r := &retriever{
		Name: name, Tokens: grad.NewParam(int(retrieveWords), width), Cell: cell,
		Hidden: layers.Linear{In: retrieveUnits, Out: hidden}, Out: layers.Linear{In: hidden, Out: 10},
	}
	rng := s.RNG("weights")
	r.Tokens.Value.Normal(rng, 0, 1)
	r.Cell.Init(rng)
	r.Hidden.Init(rng)
	r.Out.Init(rng)
	return r
}

// forward returns a row of scores of the digits for each chain of g.
func (r *retriever) forward(t *grad.Tape, g *graph.Graph, tokens []int32) *grad.Var {
	h := r.Cell.Forward(t, g, t.Use(r.Tokens).Rows(tokens)).Rows(g.Sinks())
	return r.Out.Forward(t, r.Hidden.Forward(t, h).Activate(grad.ReLU))
}

func runFastWeights(s *stage.Stage) error {
	s.Say("The input is four pairs of a letter and a digit, and then one of the letters again; the network has to give its digit. Twenty units are few for keeping four pairs. With fast weights, a network need not keep them: each state attends to similar earlier states, and to older ones less.")
	length := 2*retrievePairs + 3
	tests, wants := text.Task{Count: s.Count(2000), Min: retrievePairs, Seed: s.Stream("test", 0)}.Retrieve()
	fast := &memory.FastWeights{In: 100, Hidden: retrieveUnits, Steps: 1, Activation: grad.Tanh}
	retrievers := []*retriever{
		newRetriever(s, "fast weights", fast),
		newRetriever(s, "LSTM", &sequence.LSTM{In: 100, Hidden: retrieveUnits}),
	}
	for i := range fast.U.Value.Data {
		fast.U.Value.Data[i] *= 10 // half of the identity: a digit's state is also of the letter before it
	}
	batch := s.Count(retrieveBatch)
	g, all := graph.Chains(slices.Repeat([]int{length}, batch)...), tests.Graph()
	scores := &picture.Chart{Title: "test questions that are right, of a hundred", X: picture.Axis{Label: "hundreds of steps", Whole: true}}
	out, epochs := map[string]any{}, s.EpochsOr(40)
	var loops []*stage.Training
	for i, r := range retrievers {
		l := &stage.Training{
			Stage: s, Epochs: epochs, Every: 5,
			Optimiser: &train.Adam{LR: 5e-3, Schedule: train.Linear{From: 1, To: 0.02, Steps: s.Steps() * epochs}},
			Loss: func(t *grad.Tape, _ []int32) *grad.Var {
				x, digit := text.Task{Count: batch, Min: retrievePairs, Seed: s.Stream("steps", t.Step())}.Retrieve()
				return r.forward(t, g, x.Tokens).CrossEntropy(digit)
			},
			Score: func() (float64, error) {
				return train.Accuracy(r.forward(grad.NewEval(), all, tests.Tokens).Value(), wants), nil
			}, ScoreName: "test_accuracy",
		}
		s.Print("%s\n", r.Name)
		if err := l.Run(); err != nil {
			return err
		}
		out[r.Name], loops = stage.Last(l.Scores), append(loops, l)
		c := stage.Curve(r.Name, i, nil)
		for k, v := range l.Scores {
			c.Points = append(c.Points, picture.Point{X: float64(min((k+1)*l.Every, l.Epochs)), Y: 100 * v})
		}
		scores.Series = append(scores.Series, c)
	}
	s.Result(map[string]any{"test_accuracy": out})
	for _, r := range retrievers {
		share := out[r.Name].(float64)
		s.Print("\n%s: %.1f %% of the test questions are right (a guess: 10 %%): it %s", r.Name, 100*share, stage.Verdict(share))
	}
	h := retrievers[0].heat(tests, wants)
	s.Print("\n\n")
	s.Heat(h)
	s.Print("\n")
	s.Draw([]picture.Panel{h, scores}, []picture.Panel{stage.LossPanel(loops...)})
	return s.Keep(retrievers[0])
}

// heat shows how alike the last state of a few questions is to each state before it: what fast
// weights weigh it with, before it fades.
func (r *retriever) heat(tests text.Ragged, wants []int32) *picture.Heat {
	const shown = 6
	rows := stage.Every(shown)
	some := tests.Rows(rows)
	g := some.Graph()
	states := r.Cell.Forward(nil, g, grad.Const(r.Tokens.Value).Rows(some.Tokens)).Value()
	h := &picture.Heat{Title: "how like the last state those before it are", Across: "letters and digits as they were read"}
	for i := range rows {
		var values []float64
		var cells []string
		o := some.Offsets
		last := states.Row(o[i+1] - 1)
		for v := o[i]; v < o[i+1]-1; v++ {
			like := 0.0
			for j, x := range states.Row(v) {
				like += float64(x) * float64(last[j])
			}
			values, cells = append(values, max(0, like)), append(cells, glyph(some.Tokens[v]))
		}
		h.Rows = append(h.Rows, fmt.Sprintf("%s is %d", glyph(some.Tokens[o[i+1]-1]), wants[i]))
		h.Values, h.Words = append(h.Values, values), append(h.Words, cells)
	}
	return h
}

// glyph is a letter, a digit or the mark.
func glyph(token int32) string {
	switch k := token - text.First; {
	case k < 26:
		return string(rune('a' + k))
	case k < 36:
		return string(rune('0' + k - 26))
	}
	return "?"
}
