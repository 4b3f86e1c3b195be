package memories

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// The auto-encoder: units between the dots that it reads and those that it says, steps of its training, and rounds of
// reading what it said at most.
const (
	codeUnits  = 20
	codeSteps  = 3 // hundreds
	codeCopies = 8 // of each letter in a step
	codeRounds = 20
	codeCues   = 20 // of each letter, for each share of dots
)

// showAutoencoder trains an auto-encoder on the letters as they are, and one on noisy ones, and recalls by them and by
// Hopfield networks.
func showAutoencoder(s *stage.Stage, l *lesson, noise float64) error {
	dots := l.x.RowLen()
	s.Say("A Hopfield network holds the letters in %d weights that are one sum. An auto-encoder of %d, %d and %d units learns to say what it reads, in %d weights; it is an auto-associative memory, too: it reads what it has said, as +1 and −1, until nothing changes. One learns from the letters as they are, one from letters of which %.0f %% of the dots are flipped.",
		dots*(dots-1)/2, dots, codeUnits, dots, 2*dots*codeUnits+dots+codeUnits, 100*noise)
	type recaller struct {
		name   string
		recall func(cues *tensor.Dense) (*tensor.Dense, error)
	}
	var all []recaller
	for _, rule := range []memory.Rule{memory.Hebb, memory.PseudoInverse} {
		h, err := memory.Store(rule, l.x)
		if err != nil {
			return err
		}
		all = append(all, recaller{rule.String(), func(cues *tensor.Dense) (*tensor.Dense, error) {
			got, err := h.Recall(cues, memory.Recall{})
			if err != nil {
				return nil, err
			}
			return got.States, nil
		}})
	}
	var loops []*stage.Training
	for _, c := range []struct {
		name  string
		noise float64
	}{{"auto-encoder", 0}, {"auto-encoder, of noisy letters", noise}} {
		net, loop, err := learnCode(s, l, c.name, c.noise)
		if err != nil {
			return err
		}
		if c.noise == 0 {
			if err := s.Keep(net); err != nil {
				return err
			}
		}
		loops, all = append(loops, loop), append(all, recaller{c.name, func(cues *tensor.Dense) (*tensor.Dense, error) { return settled(net, cues), nil }})
	}
	chart := &picture.Chart{Title: "letters right, of a hundred", X: picture.Axis{Label: "dots flipped, of a hundred"}}
	found := map[string]map[string]float64{}
	s.Print("letters right of %d\n%-31s", codeCues*l.x.Rows(), "dots flipped")
	shares := []float64{0, 0.1, 0.2, 0.3, 0.4}
	for _, share := range shares {
		s.Print("  %4.0f %%", 100*share)
	}
	for i, r := range all {
		s.Print("\n%-31s", r.name)
		found[r.name] = map[string]float64{}
		line := picture.Series{Name: r.name, Mark: picture.Curve, Colour: picture.Colour(i)}
		for _, share := range shares {
			right := 0.0
			for k := range codeCues {
				got, err := r.recall(noisyBy(s, fmt.Sprintf("%v of cue %d", share, k), l.x, share))
				if err != nil {
					return err
				}
				right += float64(recalledOf(got, l.x)) / float64(codeCues*l.x.Rows())
			}
			found[r.name][fmt.Sprint(100*share)] = right
			line.Points = append(line.Points, picture.Point{X: 100 * share, Y: 100 * right})
			s.Print("  %4.0f %%", 100*right)
		}
		chart.Series = append(chart.Series, line)
	}
	s.Print("\n")
	s.Result(map[string]any{"letters": found, "noise": noise})
	s.Draw([]picture.Panel{chart, stage.LossPanel(loops...)})
	return nil
}

// learnCode trains an auto-encoder on letters of which a share of the dots is flipped.
func learnCode(s *stage.Stage, l *lesson, name string, noise float64) (*layers.MLP, *stage.Training, error) {
	net := &layers.MLP{Widths: []int{l.x.RowLen(), codeUnits, l.x.RowLen()}, Activation: grad.Tanh}
	net.Init(s.RNG("weights"))
	rows := make([]int32, 0, codeCopies*l.x.Rows())
	for range codeCopies {
		rows = append(rows, stage.Every(l.x.Rows())...)
	}
	clean := rowsOf(l.x, rows)
	want := clean.Clone()
	for i, v := range want.Data {
		want.Data[i] = (v + 1) / 2
	}
	loop := &stage.Training{
		Stage: s, Name: name, Optimiser: &train.Adam{LR: 5e-3}, Epochs: s.EpochsOr(codeSteps),
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			read := noisyBy(s, fmt.Sprint("step ", t.Step()), clean, noise)
			return net.Forward(t, t.Input(read)).BCE(t.Input(want))
		},
	}
	return net, loop, loop.Run()
}

// settled reads what a network says until it says the same again.
func settled(net *layers.MLP, cues *tensor.Dense) *tensor.Dense {
	for range codeRounds {
		next := signsOf(net.Forward(nil, grad.Const(cues)).Value())
		if recalledOf(next, cues) == cues.Rows() {
			break
		}
		cues = next
	}
	return cues
}
