package series

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Recall has an LSTM and a simple RNN remember the first of 60 symbols, through noise. The
// gradient of the last state by the earlier ones says why one of them cannot.
var Recall = stage.Demo{Name: "recall", About: "the first of 60 symbols, by an LSTM and an RNN: how far gradients reach", Aside: []string{"RNN", "gamma", "log10_reach", "by_length", "explode"}, Seconds: 1.9, Act: recall{}, Next: "--cell bias1"}

// recall are the flags of Recall.
type recall struct {
	Cell    string `default:"lstm" enum:"lstm,chrono,noforget,peephole,full-peephole,coupled,bias1,residual" placeholder:"NAME" help:"What is to remember. An LSTM: lstm, whose forget gate begins with a bias of 5 (the default), chrono, noforget, peephole, full-peephole, coupled or bias1. Or residual, a simple RNN whose state is added to (a = a + tanh(…))."`
	Explode bool   `help:"Have gradients explode instead, and show what clipping, weight decay, an orthogonal start and a residual state do to it."`
}

// Check refuses a cell beside --explode, which has its own.
func (f recall) Check([]cli.File) error {
	if f.Explode && f.Cell != "lstm" {
		return cli.Misuse("--explode is of simple RNNs: leave out --cell %s", f.Cell)
	}
	return nil
}

// recallReader returns the network of a name. Of an LSTM it is how its forget gate begins, or that
// it has none, that lets it learn.
func recallReader(s *stage.Stage, name string) *reader {
	l := &sequence.LSTM{In: 5, Hidden: 32}
	switch name {
	case "residual":
		return newReader(s, "residual", &sequence.RNN{In: 5, Hidden: 32, Residual: true}, 32, 4)
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
	case "full-peephole":
		l.Chrono, l.Peephole, l.PeepOld = recallLength, sequence.FullPeephole, true
	case "coupled":
		l.Chrono, l.Forget = recallLength, sequence.CoupledForget
	}
	return newReader(s, "LSTM", l, 32, 4)
}

// recallWords says of each cell why it should, or should not, remember.
var recallWords = map[string]string{
	"lstm":          "A forget gate that begins open, bias 5, carries it",
	"chrono":        "Forget gates that begin where they keep for some of 1 to 59 steps carry it",
	"noforget":      "The cell of 1997, which has no forget gate, keeps all it ever read",
	"peephole":      "Gates that see the cell, and begin where they keep for some of 1 to 59 steps, carry it",
	"full-peephole": "Gates of which each sees the whole cell as it was before the step, and that begin where they keep for some of 1 to 59 steps, carry it",
	"coupled":       "A cell that forgets only as much as it reads, and begins by reading little, carries it",
	"residual":      "A state that is only added to, a = a + tanh(…), carries it, as long as it is not swamped by what is added later",
	"bias1":         "A forget gate that begins at σ(1) = 0.73 has 0.73^59 = 1e-8 left of it",
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
	if f.Explode {
		return runExplode(s)
	}
	s.Say("One of four symbols, then %d steps of noise; the network has to name the symbol. %s; a simple RNN has nothing of the kind.", recallLength-1, recallWords[f.Cell])
	readers := []*reader{recallReader(s, f.Cell), newReader(s, "RNN", &sequence.RNN{In: 5, Hidden: 32}, 32, 4)}
	test, want := text.Task{Count: s.Count(500), Min: recallLength, Seed: s.Stream("test", 0)}.Recall()
	var loops []*stage.Training
	inputs := &picture.Chart{Title: "gradient of the last state, by distance", X: picture.Axis{Label: "steps back", Whole: true}, Y: picture.Axis{Label: "log₁₀ of its norm"}}
	gammas := &picture.Chart{Title: "γ, the most that a step lengthens a gradient", X: inputs.X, Y: picture.Axis{Label: "γ of the step"}}
	result := map[string]map[string]any{"test_accuracy": {}, "gamma": {}, "log10_reach": {}}
	var reaches []reach
	for i, r := range readers {
		l := recallTraining(s, r, test, want)
		s.Print("%s\n", r.Name)
		if err := l.Run(); err != nil {
			return err
		}
		back := reachOf(r.Cell, test)
		inputs.Series = append(inputs.Series, stage.Curve(r.Name, i, gradientReach(r, test)))
		gammas.Series = append(gammas.Series, stage.Curve(r.Name, i, back.Gamma))
		loops, reaches = append(loops, l), append(reaches, back)
		result["test_accuracy"][r.Name], result["gamma"][r.Name] = stage.Last(l.Scores), back.mean()
		result["log10_reach"][r.Name] = math.Log10(stage.Last(back.Length))
	}
	rows := [][]picture.Panel{{stage.LossPanel(loops...), inputs, gammas}}
	out := map[string]any{"cell": f.Cell}
	for name, values := range result {
		out[name] = values
	}
	var lengths []byLength
	if f.Cell == "residual" {
		lengths = readers[0].lengths(s)
		out["by_length"] = lengthNumbers(lengths)
	}
	s.Result(out)
	for i, r := range readers {
		ys := inputs.Series[i].Points
		share := stage.Last(loops[i].Scores)
		s.Say("%s: %.1f %% of the test symbols are right (a guess: 25 %%): it %s. The gradient that reaches the symbol is %s of that at the end.",
			r.Name, 100*share, stage.Verdict(share), powerOfTen(ys[len(ys)-1].Y-ys[0].Y))
	}
	printReaches(s, readers, reaches)
	if lengths != nil {
		rows = append(rows, lengthPanels(s, lengths))
	}
	s.Draw(rows...)
	return s.Keep(readers[0])
}

// printReaches is a table of γ by distance.
func printReaches(s *stage.Stage, readers []*reader, reaches []reach) {
	s.Print("\nγ is the most that a step can lengthen a gradient on its way back: of the RNN ‖diag(h′)·Uᵀ‖\n")
	line := "steps back"
	for _, r := range readers {
		line += fmt.Sprintf("   %8s: γ   their product   gradient left", r.Name)
	}
	s.Print("%s\n", line)
	for _, d := range []int{1, 2, 5, 10, 20, 40, recallLength - 1} {
		line := fmt.Sprintf("%10d", d)
		for _, r := range reaches {
			line += fmt.Sprintf("   %11.2f   %13s   %13s", r.Gamma[d-1], short(r.Bound[d-1]), short(r.Length[d-1]))
		}
		s.Print("%s\n", line)
	}
	s.Print("\n")
}

// short is a number that may be very large or small, in a few characters.
func short(x float64) string {
	if x != 0 && (x < 1e-3 || x >= 1e4) {
		return fmt.Sprintf("%.0e", x)
	}
	return fmt.Sprintf("%.3f", x)
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
