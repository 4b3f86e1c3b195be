package series

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/train"
)

// cure is what is done about gradients that explode.
type cure struct {
	name  string
	cell  sequence.RNN
	large bool // U begins too large
	decay float64
	clip  float64
}

// How the runs go. A ReLU hands on half of what it reads, so a state grows by about
// explodeStart/√2 in a step, and a gradient on its way back too.
const (
	explodeStart = 1.8 // the deviation of U's elements, times √m
	explodeRate  = 0.1
	explodeSteps = 2 // hundreds
)

var cures = []cure{
	{name: "nothing", large: true},
	{name: "clipping", large: true, clip: 1},
	{name: "weight decay", large: true, decay: 0.05},
	{name: "both", large: true, decay: 0.05, clip: 1},
	{name: "orthogonal start", cell: sequence.RNN{Orthogonal: true}},
	{name: "residual state", cell: sequence.RNN{Residual: true}, large: true},
}

// watched is an optimiser that notes how long the gradients are that it gets, before it clips them,
// as long as that is a number.
type watched struct {
	train.Optimiser
	clip  float64
	norms []float64
}

// Step notes, clips and steps.
func (o *watched) Step(g grad.Grads) {
	if n := g.Norm(); !math.IsNaN(n) && !math.IsInf(n, 0) {
		o.norms = append(o.norms, n)
	}
	if o.clip > 0 {
		g.ClipNorm(o.clip)
	}
	o.Optimiser.Step(g)
}

// exploded is what a cure came to.
type exploded struct {
	cure
	net           *reader
	how           *stage.Training
	norms         []float64 // of the gradients, as long as they are numbers
	before, after float64   // γ at the start and at the end: the geometric mean over a sequence
}

// lost is the step after which the weights are no numbers any more, 0 if they still are.
func (e *exploded) lost() int {
	if steps := e.how.Epochs * e.how.Steps(); len(e.norms) < steps {
		return len(e.norms)
	}
	return 0
}

// runExplode has simple RNNs learn by plain descent from weights that are too large, or with a cure.
func runExplode(s *stage.Stage) error {
	s.Say("One of four symbols, then %d steps of noise, and simple RNNs of ReLUs that learn by plain descent. The elements of U begin with a deviation of %.1f/√m, so the states grow with every step, and gradients on their way back. The same run again with what is said to help.", recallLength-1, explodeStart)
	test, want := text.Task{Count: s.Count(500), Min: recallLength, Seed: s.Stream("test", 0)}.Recall()
	var all []*exploded
	for _, c := range cures {
		s.Print("%s\n", c.name)
		e, err := c.try(s, test, want)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	explodeResult(s, all)
	s.Draw([]picture.Panel{explodePanel(all)})
	return s.Keep(all[1].net)
}

// try trains by a cure.
func (c cure) try(s *stage.Stage, test text.Series, want []int32) (*exploded, error) {
	cell := c.cell
	cell.In, cell.Hidden, cell.Activation = 5, 32, grad.ReLU
	r := newReader(s, "", &cell, 32, 4)
	if c.large {
		cell.U.Value.Normal(s.RNG("large"), 0, explodeStart/math.Sqrt(32))
	}
	e := &exploded{cure: c, net: r, before: reachOf(&cell, test).mean(), how: recallTraining(s, r, test, want)}
	o := &watched{Optimiser: &train.SGD{LR: explodeRate, WeightDecay: c.decay}, clip: c.clip}
	e.how.Optimiser, e.how.Clip, e.how.Epochs = o, 0, s.EpochsOr(explodeSteps)
	if err := e.how.Run(); err != nil {
		return nil, err
	}
	e.norms, e.after = o.norms, reachOf(&cell, test).mean()
	return e, nil
}

// explodeResult says what each cure came to.
func explodeResult(s *stage.Stage, all []*exploded) {
	out := map[string]any{}
	s.Print("\n%-16s   γ at first   at last   longest gradient   the last      loss   right\n", "")
	for _, e := range all {
		longest, last, loss, right := slices.Max(e.norms), stage.Last(e.norms), stage.Last(e.how.Losses), stage.Last(e.how.Scores)
		end := fmt.Sprintf("%7.2f   %16s   %8s   %7s   %5.2f", e.after, short(longest), short(last), short(loss), right)
		if lost := e.lost(); lost > 0 {
			end = fmt.Sprintf("      -   %16s   no numbers after step %d", short(longest), lost)
		}
		s.Print("%-16s   %10.2f   %s\n", e.name, e.before, end)
		out[e.name] = map[string]any{"gamma_first": e.before, "gamma_last": number(e.after), "log10_longest": math.Log10(longest), "lost": e.lost(), "loss": number(loss), "right": right}
	}
	s.Print("\n")
	s.Say("Clipping keeps each step short: the weights stay numbers, and descent has the time to find states that do not grow. Weight decay makes U smaller, but not before the first step, which is too long; behind clipping it helps on the way. With an orthogonal start γ is at most 1, so nothing explodes. A residual state is for gradients that vanish: it adds 1 to the slope of every step, and these explode the more.")
	s.Result(map[string]any{"explode": out})
}

// number is x, or nil if it is none.
func number(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// explodePanel draws the gradients' lengths.
func explodePanel(all []*exploded) picture.Panel {
	norms := &picture.Chart{Title: "length of the gradient", X: picture.Axis{Label: "step", Whole: true}, Y: picture.Axis{Label: "log₁₀"}}
	for i, e := range all {
		var ys []float64
		for _, v := range e.norms {
			ys = append(ys, math.Log10(max(v, 1e-12)))
		}
		norms.Series = append(norms.Series, stage.Curve(e.name, i, ys))
	}
	return norms
}
