package demo

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// recall has an LSTM and a simple RNN remember the first of 60 symbols, through noise. The
// gradient of the last state by the earlier ones says why one of them cannot.
var recall = Demo{Name: "recall", About: "the first of 60 symbols, by an LSTM and an RNN: how far gradients reach", Aside: []string{"RNN"}, Seconds: 1.9, Run: runRecall,
	Cells: []string{"lstm", "chrono", "noforget", "peephole", "coupled", "bias1"}}

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

func newReader(s *Stage, name string, c sequence.Cell, hidden, out int) *reader {
	r := &reader{Name: name, Cell: c, Out: layers.Linear{In: hidden, Out: out}}
	rng := s.rng("weights")
	r.Cell.Init(rng)
	r.Out.Init(rng)
	return r
}

const recallLength = 60

func runRecall(s *Stage) error {
	s.say("One of four symbols, then %d steps of noise; the network has to name the symbol. %s; a simple RNN has nothing of the kind.", recallLength-1, recallWords[s.cell()])
	readers := []*reader{
		newReader(s, "LSTM", recallCell(s.cell()), 32, 4),
		newReader(s, "RNN", &sequence.RNN{In: 5, Hidden: 32}, 32, 4),
	}
	test, want := text.Task{Count: len(s.few(500)), Min: recallLength, Seed: s.stream("test", 0)}.Recall()
	var loops []*training
	reach := &picture.Chart{Title: "gradient of the last state, by distance", X: picture.Axis{Label: "steps back", Whole: true}, Y: picture.Axis{Label: "log₁₀ of its norm"}}
	out := map[string]any{}
	for i, r := range readers {
		l := s.recallTraining(r, test, want)
		s.print("%s\n", r.Name)
		if err := l.run(); err != nil {
			return err
		}
		norms := gradientReach(r, test)
		reach.Series = append(reach.Series, curve(r.Name, i, norms))
		loops = append(loops, l)
		out[r.Name] = l.scores[len(l.scores)-1]
	}
	s.result(map[string]any{"cell": s.cell(), "test_accuracy": out})
	for i, r := range readers {
		ys := reach.Series[i].Points
		share := last(loops[i].scores)
		s.say("%s: %.1f %% of the test symbols are right (a guess: 25 %%): it %s. The gradient that reaches the symbol is %s of that at the end.",
			r.Name, 100*share, verdict(share), powerOfTen(ys[len(ys)-1].Y-ys[0].Y))
	}
	losses := &picture.Chart{Title: "loss", X: picture.Axis{Label: "hundreds of steps", Whole: true}}
	for i, l := range loops {
		losses.Series = append(losses.Series, curve(readers[i].Name, i, l.losses))
	}
	if err := s.draw([]picture.Panel{losses, reach}); err != nil {
		return err
	}
	return s.keep(readers[0])
}

// powerOfTen is ten to some power, as one says it.
func powerOfTen(power float64) string {
	if power > -1 {
		return fmt.Sprintf("%.2g", math.Pow(10, power))
	}
	return fmt.Sprintf("10^%.0f", power)
}

// recallTraining trains r on sequences that are new at every step.
func (s *Stage) recallTraining(r *reader, test text.Series, want []int32) *training {
	step := uint64(0)
	return &training{
		Stage: s, optimiser: &train.Adam{LR: 3e-3}, clip: 1, epochs: s.epochs(4),
		loss: func(t *grad.Tape, _ []int32) *grad.Var {
			step++
			x, symbol := text.Task{Count: len(s.few(64)), Min: recallLength, Seed: s.stream("steps", step)}.Recall()
			return r.forward(t, x.Graph(), x.X).CrossEntropy(symbol)
		},
		score: func() (float64, string) {
			y := r.forward(grad.NewEval(), test.Graph(), test.X)
			return train.Accuracy(y.Value(), want), "test_accuracy"
		},
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
