package memories

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// The restricted machine: its hidden units, of which all states are counted, and how it learns.
const (
	hiddenUnits  = 16
	letterNoise  = 0.05 // of the dots that it learns from
	letterCopies = 10   // of each letter in a step
	letterSteps  = 10   // hundreds
	letterRate   = 0.1
	letterTests  = 40  // of each letter
	heatedSweeps = 5   // of chains that go on, which are warm at first, or each would stay with its letter
	heated       = 0.3 // of β, in the first of them
	dreams       = 100
	dreamSweeps  = 1000
	lettersEvery = 2 // hundreds of steps between two scores
)

// bitsOf are +1 and −1 as 1 and 0.
func bitsOf(x *tensor.Dense) *tensor.Dense {
	y := x.Clone()
	for i, v := range y.Data {
		y.Data[i] = (v + 1) / 2
	}
	return y
}

// flippedAlone turns over each unit of x alone with some probability.
func flippedAlone(s *stage.Stage, part string, x *tensor.Dense, chance float64) *tensor.Dense {
	rng, y := s.RNG(part), x.Clone()
	for i := range y.Data {
		if rng.Float64() < chance {
			y.Data[i] *= -1
		}
	}
	return y
}

// showLetters trains a restricted machine on noisy letters, says how likely letters that it never saw are, exactly,
// and draws what it dreams.
func (f boltzmann) showLetters(s *stage.Stage) error {
	own := ownLetters{stage.Files{Train: f.Train, Test: f.Test}}
	sets, err := own.learnt(capitals)
	if err != nil {
		return err
	}
	l := sets[0]
	tests, which, err := own.tried(l)
	if err != nil {
		return err
	}
	tried := repeated(l.x, letterTests)
	if tests != nil {
		tried = tests.x
	} else {
		tried = flippedAlone(s, "test", tried, letterNoise)
	}
	m := &memory.RBM{Visible: l.x.RowLen(), Hidden: hiddenUnits}
	m.Init(s.RNG("weights"))
	for i := range m.Visible { // a unit begins as often as it is a dot
		on := 0.5
		for k := range l.x.Rows() {
			on += float64(l.x.Row(k)[i]+1) / 2
		}
		m.A.Value.Data[i] = tensor.Float(math.Log(on / (float64(l.x.Rows()) + 1 - on)))
	}
	s.Say("A restricted Boltzmann machine of %d visible and %d hidden units learns %d letters, each time with %.0f %% of the dots flipped. How likely pictures are that it has not seen is computed exactly, by all %d states of the hidden units.",
		m.Visible, m.Hidden, len(l.names), 100*letterNoise, 1<<m.Hidden)
	clean := repeated(l.x, letterCopies)
	chains := bitsOf(flippedAlone(s, "chains", clean, letterNoise))
	loop := &stage.Training{
		Stage: s, Optimiser: &train.SGD{LR: letterRate, Schedule: train.Cosine{Steps: 100 * s.EpochsOr(letterSteps), Min: 0.02}}, Epochs: s.EpochsOr(letterSteps), Every: lettersEvery,
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			data := bitsOf(flippedAlone(s, fmt.Sprint("step ", t.Step()), clean, letterNoise))
			draw := memory.Gibbs{Sweeps: heatedSweeps, From: heated, Seed: s.Stream("gibbs", t.Step())}
			if f.Chains == "data" {
				chains, draw.Sweeps = data, 1
			}
			chains = m.Sample(chains, draw)
			return m.Loss(t, data, chains)
		},
		Score: func() (float64, error) { return likelihood(m, bitsOf(tried)) }, ScoreName: "log_likelihood",
	}
	if err := loop.Run(); err != nil {
		return err
	}
	return f.showLearnt(s, m, l, loop, which)
}

// likelihood is the mean log P of pictures, exactly.
func likelihood(m *memory.RBM, v *tensor.Dense) (float64, error) {
	z, err := m.LogZ()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, free := range m.FreeEnergy(nil, grad.Const(v)).Value().Data {
		sum -= float64(free) + z
	}
	return sum / float64(v.Rows()), nil
}

// repeated is each row of x so many times, all rows and then all of them again.
func repeated(x *tensor.Dense, times int) *tensor.Dense {
	var rows []int32
	for range times {
		rows = append(rows, stage.Every(x.Rows())...)
	}
	return rowsOf(x, rows)
}

// showLearnt says how likely letters are, and draws the fields of hidden units and dreams.
func (f boltzmann) showLearnt(s *stage.Stage, m *memory.RBM, l *letters, loop *stage.Training, which []int32) error {
	got := stage.Last(loop.Scores)
	noise := -(math.Log(float64(len(l.names))) - float64(m.Visible)*(letterNoise*math.Log(letterNoise)+(1-letterNoise)*math.Log(1-letterNoise)))
	result := map[string]any{"log_likelihood": got, "nats_off": noise - got, "noise_entropy": noise}
	s.Print("\nlog P of unseen pictures: %.1f", got)
	if which == nil {
		s.Print("; %.1f would be as good as knowing the letters and their noise", noise)
	}
	s.Print("\n")
	start := flippedAlone(s, "dreams", constantRows(dreams, m.Visible), 0.5)
	dreamt := m.Sample(bitsOf(start), memory.Gibbs{Sweeps: dreamSweeps, From: 0.1, Seed: s.Stream("dreams", 1)})
	for i, v := range dreamt.Data {
		dreamt.Data[i] = 2*v - 1
	}
	near, kinds := 0, map[int]bool{}
	for k := range dreamt.Rows() {
		best, at := 1.0, 0
		for n := range l.x.Rows() {
			if w := memory.Wrong(rowsOf(dreamt, []int32{int32(k)}), rowsOf(l.x, []int32{int32(n)}))[0]; w < best {
				best, at = w, n
			}
		}
		if best <= 2*letterNoise {
			near++
			kinds[at] = true
		}
	}
	result["dreams_near"], result["kinds"] = float64(near)/dreams, len(kinds)
	s.Print("of %d dreams, chains of %d sweeps that begin with random dots, %d are within %.0f %% of the dots of a letter: %d of %d letters\n",
		dreams, dreamSweeps, near, 200*letterNoise, len(kinds), len(l.names))
	s.Result(result)
	rows := make([][]picture.Panel, 4)
	for j := range min(shownLetters, m.Hidden) {
		rows[0] = append(rows[0], fieldOf(l, m, j))
		rows[1] = append(rows[1], l.dots("a dream", dreamt.Row(j)))
		rows[2] = append(rows[2], l.dots("another", dreamt.Row(shownLetters+j)))
	}
	rows[3] = []picture.Panel{&picture.Chart{Title: "log P of unseen pictures", X: picture.Axis{Label: fmt.Sprintf("times %d steps", 100*lettersEvery), Whole: true}, Series: []picture.Series{stage.Curve("", 0, loop.Scores)}}}
	s.Draw(rows...)
	return s.Keep(m)
}

// constantRows are rows of ones.
func constantRows(n, units int) *tensor.Dense {
	x := tensor.New(n, units)
	x.Fill(1)
	return x
}

// fieldOf shows the weights of a hidden unit as ratios: exp of each.
func fieldOf(l *letters, m *memory.RBM, j int) picture.Panel {
	h := &picture.Heat{Title: fmt.Sprintf("hidden unit %d", j+1), Ratios: true}
	for y := range l.high {
		row := make([]float64, l.wide)
		for i, w := range m.W.Value.Row(j)[y*l.wide : (y+1)*l.wide] {
			row[i] = math.Exp(float64(w))
		}
		h.Values = append(h.Values, row)
	}
	return h
}
