package series

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Recall has an LSTM and a simple RNN remember the first of 60 symbols, through noise. The
// gradient of the last state by the earlier ones says why one of them cannot.
var Recall = stage.Demo{Name: "recall", About: "the first of 60 symbols, by an LSTM and an RNN: how far gradients reach", Aside: []string{"RNN"}, Seconds: 1.9, Act: recall{}, Next: "--cell bias1"}

// recall are the flags of Recall.
type recall struct {
	Cell string `default:"lstm" enum:"lstm,chrono,noforget,peephole,coupled,bias1" placeholder:"NAME" help:"The LSTM: lstm, whose forget gate begins with a bias of 5 (the default), chrono, noforget, peephole, coupled or bias1."`
}

// recallCell returns an LSTM of a name: how its forget gate begins, or that it has none, is
// what lets it learn.
func recallCell(name string) *sequence.LSTM {
	l := &sequence.LSTM{In: 5, Hidden: 32}
	switch name {
	case "lstm":
		l.ForgetBias = 5
	case "bias1":
		l.ForgetBias = 1
	case "noforget":
		l.Forget = sequence.NoForget
	case "chrono":
		l.Chrono = recallLength
	case "peephole":
		l.Chrono, l.Peephole = recallLength, sequence.DiagonalPeephole
	case "coupled":
		l.Chrono, l.Forget = recallLength, sequence.CoupledForget
	}
	return l
}

// recallWords says of each cell why it should, or should not, remember.
var recallWords = map[string]string{
	"lstm":     "A forget gate that begins open, bias 5, carries it",
	"chrono":   "Forget gates that begin where they keep for some of 1 to 59 steps carry it",
	"noforget": "The cell of 1997, which has no forget gate, keeps all it ever read",
	"peephole": "Gates that see the cell, and begin where they keep for some of 1 to 59 steps, carry it",
	"coupled":  "A cell that forgets only as much as it reads, and begins by reading little, carries it",
	"bias1":    "A forget gate that begins at σ(1) = 0.73 has 0.73^59 = 1e-8 left of it",
}

// reader is a cell that reads numbers, and what it says at the end.
type reader struct {
	Name string
	Cell sequence.Cell
	Out  layers.Linear
}

// forward returns what is said at the end of each chain of g.
func (r *reader) forward(t *grad.Tape, g *graph.Graph, x *tensor.Dense) *grad.Var {
	return r.Out.Forward(t, r.states(t, g, grad.Const(x)).Rows(g.Sinks()))
}

// states returns the state of each node.
func (r *reader) states(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return r.Cell.ForwardFrom(t, g, x, nil)[0]
}

func newReader(s *stage.Stage, name string, c sequence.Cell, hidden, out int) *reader {
	r := &reader{Name: name, Cell: c, Out: layers.Linear{In: hidden, Out: out}}
	rng := s.RNG("weights")
	r.Cell.Init(rng)
	r.Out.Init(rng)
	return r
}

const recallLength = 60

// Run trains both networks and shows how far their gradients reach.
func (f recall) Run(s *stage.Stage) error {
	s.Say("One of four symbols, then %d steps of noise; the network has to name the symbol. %s; a simple RNN has nothing of the kind.", recallLength-1, recallWords[f.Cell])
	readers := []*reader{
		newReader(s, "LSTM", recallCell(f.Cell), 32, 4),
		newReader(s, "RNN", &sequence.RNN{In: 5, Hidden: 32}, 32, 4),
	}
	test, want := text.Task{Count: s.Count(500), Min: recallLength, Seed: s.Stream("test", 0)}.Recall()
	var loops []*stage.Training
	reach := &picture.Chart{Title: "gradient of the last state, by distance", X: picture.Axis{Label: "steps back", Whole: true}, Y: picture.Axis{Label: "log₁₀ of its norm"}}
	out := map[string]any{}
	for i, r := range readers {
		l := recallTraining(s, r, test, want)
		s.Print("%s\n", r.Name)
		if err := l.Run(); err != nil {
			return err
		}
		norms := gradientReach(r, test)
		reach.Series = append(reach.Series, stage.Curve(r.Name, i, norms))
		loops = append(loops, l)
		out[r.Name] = stage.Last(l.Scores)
	}
	s.Result(map[string]any{"cell": f.Cell, "test_accuracy": out})
	for i, r := range readers {
		ys := reach.Series[i].Points
		share := stage.Last(loops[i].Scores)
		s.Say("%s: %.1f %% of the test symbols are right (a guess: 25 %%): it %s. The gradient that reaches the symbol is %s of that at the end.",
			r.Name, 100*share, stage.Verdict(share), powerOfTen(ys[len(ys)-1].Y-ys[0].Y))
	}
	s.Draw([]picture.Panel{stage.LossPanel(loops...), reach})
	return s.Keep(readers[0])
}

// powerOfTen is ten to some power, as one says it.
func powerOfTen(power float64) string {
	if power > -1 {
		return fmt.Sprintf("%.2g", math.Pow(10, power))
	}
	return fmt.Sprintf("10^%.0f", power)
}

// recallTraining trains r on sequences that are new at every step.
func recallTraining(s *stage.Stage, r *reader, test text.Series, want []int32) *stage.Training {
	return &stage.Training{
		Stage: s, Name: r.Name, Optimiser: &train.Adam{LR: 3e-3}, Clip: 1, Epochs: s.EpochsOr(4),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			x, symbol := text.Task{Count: s.Count(64), Min: recallLength, Seed: s.Stream("steps", t.Step())}.Recall()
			return r.forward(t, x.Graph(), x.X).CrossEntropy(symbol)
		},
		Score: func() (float64, error) {
			y := r.forward(grad.NewEval(), test.Graph(), test.X)
			return train.Accuracy(y.Value(), want), nil
		}, ScoreName: "test_accuracy",
	}
}

// gradientReach returns the logarithm of the norm of the gradient of the last state by
// the input of each step before it, the last first, of one sequence.
func gradientReach(r *reader, x text.Series) []float64 {
	one := x.Rows([]int32{0})
	g := graph.Chains(one.Lengths()...)
	t := grad.NewTape(1)
	in := t.Watch(one.X)
	last := r.states(t, g, in).Rows(g.Sinks())
	d := t.Backward(last.Square().Sum()).Of(in)
	out := make([]float64, d.Rows())
	for i := range out {
		sum := 1e-60
		for _, v := range d.Row(i) {
			sum += float64(v) * float64(v)
		}
		out[len(out)-1-i] = math.Log10(math.Sqrt(sum))
	}
	return out
}
