package pointing

import (
	"math"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// pointing is a pointer network that learns from sets which are new at every step.
type pointing struct {
	net  *attention.Pointer
	sets func(points.Task) points.Sets
	task points.Task // but for Seed, what a step learns from
}

// newPointing returns a network of fields like those given, of LSTMs of some width.
func newPointing(s *stage.Stage, like attention.Pointer, width int, task points.Task, sets func(points.Task) points.Sets) *pointing {
	l := &like
	l.Hidden = width
	l.Encoder, l.Decoder = &sequence.LSTM{In: l.In, Hidden: width}, &sequence.LSTM{In: l.In, Hidden: width}
	l.Score = &attention.Additive{Key: width, Query: width, Hidden: width}
	l.Init(s.RNG("weights"))
	return &pointing{net: l, sets: sets, task: task}
}

// training trains at a rate that falls to nought.
func (p *pointing) training(s *stage.Stage, epochs int, name string, score func() (float64, error)) *stage.Training {
	epochs = s.EpochsOr(epochs)
	return &stage.Training{
		Stage: s, Clip: 2, Epochs: epochs, Score: score, ScoreName: name, Every: 5,
		Optimiser: &train.Adam{LR: 3e-3, Schedule: train.Cosine{Steps: s.Steps() * epochs}},
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			task := p.task
			task.Seed = s.Stream("steps", t.Step())
			sets := p.sets(task)
			return p.net.Loss(t, p.taught(sets), read(sets.X))
		},
	}
}

// read is what the network is given of points: numbers of mean zero and variance one. On those
// as they are drawn, from 0 to 1, a network of tours learns nothing for a thousand steps.
func read(x *tensor.Dense) *grad.Var { return grad.Const(x).Shift(-0.5).Scale(math.Sqrt(12)) }

// taught is what the network is to say of sets, whose answers are known to be good.
func (p *pointing) taught(sets points.Sets) *attention.Pointing {
	out, err := p.net.Pointing(sets.Graph(), sets.Answers)
	if err != nil {
		panic(err)
	}
	return out
}

// unseen returns a thousand sets of a number of points that no step learns from.
func (p *pointing) unseen(s *stage.Stage, size int) points.Sets {
	return p.sets(points.Task{Count: s.Count(1000), Min: size, Seed: s.Stream("test", 0)})
}

// answers returns what the network says of sets, by a beam of some width.
func (p *pointing) answers(sets points.Sets, width int) ([][]int32, error) {
	return p.net.Decode(sets.Graph(), read(sets.X), width)
}

// exact is the share of answers that are those of the sets.
func exact(got [][]int32, sets points.Sets) float64 {
	right := 0
	for i, a := range got {
		if slices.Equal(a, sets.Answers[i]) {
			right++
		}
	}
	return float64(right) / float64(max(1, len(got)))
}

// weights returns what each step of an answer to one set weighs its points with, ⇒ last if
// there is one.
func (p *pointing) weights(x *tensor.Dense, answer []int32) [][]float64 {
	one := points.Sets{X: x, Offsets: []int{0, x.Rows()}, Answers: [][]int32{answer}}
	taught := p.taught(one)
	w := message.EdgeSoftmax(taught.Pairs, p.net.Forward(grad.NewEval(), taught, read(x))).Value()
	out := make([][]float64, taught.Pairs.NumDst())
	for v := range out {
		out[v] = make([]float64, taught.Pairs.NumSrc())
	}
	for e, v := range taught.Pairs.Destinations() {
		out[v][taught.Pairs.In().Cols[e]] = float64(w.Data[e])
	}
	return out
}

// weightsPanel shows them, with the points' names.
func (p *pointing) weightsPanel(title string, x *tensor.Dense, answer []int32, names []string) *picture.Heat {
	w := p.weights(x, answer)
	return &picture.Heat{Title: title, Across: "points", Down: "steps", Columns: names, Rows: numbered(len(w)), Values: w, Top: 1, Format: "%.2f"}
}

// numbered are the names of n points, or steps: 0, 1, …
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// planePanel shows points, and rings through them beside each other: what the network says,
// and behind it what is right.
func planePanel(title string, x *tensor.Dense, said, right []int32) *picture.Plane {
	p := &picture.Plane{Title: title, Names: numbered(x.Rows())}
	for i := range x.Rows() {
		p.Points = append(p.Points, picture.Point{X: float64(x.Row(i)[0]), Y: float64(x.Row(i)[1])})
	}
	if right != nil {
		p.Lines = append(p.Lines, picture.Through{Name: "right", Points: right, Closed: true, Stroke: picture.Stroke{Colour: picture.Colour(1), Width: 4}})
	}
	if said != nil {
		p.Lines = append(p.Lines, picture.Through{Name: "said", Points: said, Closed: true, Stroke: picture.Stroke{Colour: picture.Colour(0), Width: 1.4}})
	}
	return p
}
