package series

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Sine and Chaos have a network go on with a series of numbers by itself: it is fed what
// it said itself.
var (
	Sine  = stage.Demo{Name: "sine", About: "a sine goes on, of a period that is read from its beginning", Lower: []string{"error_of_10_steps"}, Seconds: 5.5, Act: stage.Func(func(s *stage.Stage) error { return goOn(s, text.Task.Sine, "a sine", 0.05, 8) })}
	Chaos = stage.Demo{Name: "chaos", About: "a chaotic series (Mackey and Glass) goes on, as long as it can be foretold", Lower: []string{"error_of_10_steps"}, Seconds: 14, Act: stage.Func(func(s *stage.Stage) error {
		return goOn(s, text.Task.MackeyGlass, "the series of Mackey and Glass", 0.01, 16)
	})}
)

// forecaster says the next number of a series.
type forecaster struct {
	Mean, Deviation float64 // of the series, whose numbers it reads as so many deviations from the mean
	LSTM            sequence.LSTM
	Out             layers.Linear
}

// forward returns the next number at each step of series, as what is added to the last, and
// the states.
func (f *forecaster) forward(t *grad.Tape, g *graph.Graph, x *grad.Var, from message.State) (*grad.Var, message.State) {
	states := f.LSTM.ForwardFrom(t, g, x.Shift(-f.Mean).Scale(1/f.Deviation), from)
	return x.Add(f.Out.Forward(t, states[0]).Scale(f.Deviation)), states
}

// The steps that a series is read for, and those that it goes on alone.
const (
	seriesRead = 100
	seriesOn   = 100
)

// goOn trains on the beginnings of series, and has the network go on with one.
func goOn(s *stage.Stage, task func(text.Task) (text.Series, *tensor.Dense), name string, noise float64, epochs int) error {
	s.Say("An LSTM learns to say the next number of %s. Then it reads %d numbers of a series that it has not seen, and goes on for %d by itself.", name, seriesRead, seriesOn)
	f := &forecaster{LSTM: sequence.LSTM{In: 1, Hidden: 64, ForgetBias: 1}, Out: layers.Linear{In: 64, Out: 1}}
	rng := s.RNG("weights")
	f.LSTM.Init(rng)
	f.Out.Init(rng)
	some, _ := task(text.Task{Count: 100, Min: seriesRead, Seed: s.Stream("scale", 0)})
	f.Mean, f.Deviation = mean(some.X.Data), math.Sqrt(variance(some.X.Data))
	test, _ := task(text.Task{Count: 20, Min: seriesRead + seriesOn, Seed: s.Stream("test", 0)})
	l := &stage.Training{
		Stage: s, Optimiser: &train.Adam{LR: 5e-3, Schedule: train.Cosine{Steps: s.Steps() * s.EpochsOr(epochs)}}, Clip: 1, Epochs: s.EpochsOr(epochs),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			x, next := task(text.Task{Count: 32, Min: seriesRead, Seed: s.Stream("steps", t.Step())})
			y, _ := f.forward(t, x.Graph(), grad.Const(blurred(rng, x.X, noise)), nil)
			return y.MSE(grad.Const(next)).Scale(1 / (f.Deviation * f.Deviation))
		},
		Score: func() (float64, error) { return f.error(test), nil }, ScoreName: "error_of_10_steps",
		Every: 2,
	}
	if err := l.Run(); err != nil {
		return err
	}
	one := test.Rows([]int32{0})
	said, long := f.dream(one), 0
	for i, y := range said {
		if d := float64(one.X.Data[seriesRead+i] - y); d*d > 0.01*variance(one.X.Data) {
			break
		}
		long++
	}
	s.Result(map[string]any{"error_of_10_steps": stage.Last(l.Scores), "steps_within_a_tenth": long})
	s.Say("The mean squared error of ten steps ahead is %.2g of the series' variance. Of the first test series the network's own numbers stay within a tenth of its deviation for %d steps.",
		stage.Last(l.Scores), long)
	truth, own := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(0)}, picture.Series{Name: "what the network goes on with", Mark: picture.Curve, Colour: picture.Colour(1)}
	for i, y := range one.X.Data {
		truth.Points = append(truth.Points, picture.Point{X: float64(i), Y: float64(y)})
	}
	for i, y := range said {
		own.Points = append(own.Points, picture.Point{X: float64(seriesRead + i), Y: float64(y)})
	}
	chart := &picture.Chart{Title: name, X: picture.Axis{Label: "step", Whole: true}, Series: []picture.Series{truth, own}}
	s.Draw([]picture.Panel{chart, stage.LossPanel(l)})
	return s.Keep(f)
}

// blurred returns numbers with noise, of a share of their deviation. A network that goes on alone reads its own
// errors; one that has read others' has learnt to come back from them.
func blurred(rng *rand.Rand, x *tensor.Dense, share float64) *tensor.Dense {
	noise := x.Like()
	noise.Normal(rng, 0, share*math.Sqrt(variance(x.Data)))
	noise.Add(x)
	return noise
}

// dream reads the beginning of a series, and returns the numbers that the network goes on
// with, each fed with the one before.
func (f *forecaster) dream(one text.Series) []tensor.Float {
	g, t := graph.Chains(seriesRead), grad.NewEval()
	y, states := f.forward(t, g, grad.Const(one.X.RowRange(0, seriesRead)), nil)
	last, state := y.Rows(g.Sinks()).Keep(), states.Rows(g.Sinks()).Keep()
	step := graph.Chains(1)
	var said []tensor.Float
	for range seriesOn {
		said = append(said, last.Value().Data[0])
		t.Reset()
		y, states := f.forward(t, step, last, state)
		last, state = y.Keep(), states.Keep()
	}
	return said
}

// error is the mean squared error ten steps ahead, in shares of the series' variance.
func (f *forecaster) error(test text.Series) float64 {
	const ahead = 10
	sum, all := 0.0, 0.0
	for i := range int32(5) {
		one := test.Rows([]int32{i})
		said := f.dream(one)
		for k := range ahead {
			d := float64(one.X.Data[seriesRead+k] - said[k])
			sum += d * d / ahead
		}
		all += variance(one.X.Data)
	}
	return sum / all
}

// mean is that of numbers.
func mean(xs []tensor.Float) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += float64(x)
	}
	return sum / float64(len(xs))
}

// variance is that of numbers.
func variance(xs []tensor.Float) float64 {
	m, v := mean(xs), 0.0
	for _, x := range xs {
		v += (float64(x) - m) * (float64(x) - m) / float64(len(xs))
	}
	return v
}
