package memories

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Boltzmann stores random patterns by Hebb's rule and by a Boltzmann machine that learns them. With --letters a
// restricted one learns letters and dreams some.
var Boltzmann = stage.Demo{
	Name: "boltzmann", About: "how many patterns a Boltzmann machine learns, beside Hebb's rule; letters that a restricted one draws",
	Lower: []string{"nats_off", "wrong"}, Aside: []string{"wrong.Hebb", "units", "noise_entropy"}, Seconds: 9, Act: boltzmann{}, Next: "--letters",
}

// boltzmann are the flags of Boltzmann.
type boltzmann struct {
	Units   int    `default:"100" placeholder:"N" help:"Units of the machine, from 20 to 500. 500 take several minutes. Default: 100."`
	Chains  string `enum:",data,persistent" default:"" placeholder:"NAME" help:"Where the chains of the second phase begin: at the data, a sweep each step, which is contrastive divergence (data), or where they were (persistent). Default: data, and persistent with --letters."`
	Letters bool   `help:"Learn letters by a restricted machine, and draw what its hidden units see and what it dreams."`
	Train   string `placeholder:"FILE" help:"Learn the letters of this file, and not five of our own; it implies --letters. A letter is a line with its name, then its rows of # and . (a dot, none), all letters of one size."`
	Test    string `placeholder:"FILE" help:"Say how likely the pictures of this file are, each named as the letter that it is. Default: the letters with a twentieth of the dots flipped."`
}

// Check returns an error for sizes that cannot be, and files that cannot be read.
func (f boltzmann) Check(written []cli.File) error {
	if f.Units < 20 || f.Units > 500 {
		return cli.Misuse("--units %d: it must be from 20 to 500", f.Units)
	}
	return ownLetters{stage.Files{Train: f.Train, Test: f.Test}}.check(written)
}

// How a machine learns patterns: steps of all of them, and its rate.
const (
	machineSteps = 300
	machineRate  = 0.03
)

// Run learns random patterns at one load after the other, or letters.
func (f boltzmann) Run(s *stage.Stage) error {
	if f.Letters || f.Train != "" {
		return f.showLetters(s)
	}
	s.Say("Random patterns are stored in the weights between %d units: by Hebb's rule, one sum, and by a Boltzmann machine, which draws states of its own and moves its weights until pairs of units agree in them as often as in the patterns. Each pattern is its own cue, and then with one unit in twenty or in ten flipped; units are updated until none changes.", f.Units)
	names, turned := []string{"Hebb", "learnt"}, []float64{0, 0.05, 0.1}
	var charts []*picture.Chart
	for _, share := range turned {
		c := &picture.Chart{Title: fmt.Sprintf("units wrong, of a hundred; %g %% of the cue flipped", 100*share), X: picture.Axis{Label: "patterns a unit"}}
		for i, name := range names {
			c.Series = append(c.Series, picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)})
		}
		charts = append(charts, c)
	}
	held, wrong := map[string]map[string]float64{}, map[string]map[string]float64{}
	for _, name := range names {
		held[name], wrong[name] = map[string]float64{}, map[string]float64{}
	}
	loads := []float64{0.05, 0.1, 0.138, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2}
	if s.Few > 0 {
		loads = loads[:3]
	}
	s.Print("units wrong  as stored          5 %% flipped        10 %% flipped\npatterns     Hebb     learnt    Hebb     learnt    Hebb     learnt\na unit\n")
	var last *memory.Boltzmann
	for _, load := range loads {
		x := coins(s, f.Units, int(load*float64(f.Units)))
		hebb, err := memory.Store(memory.Hebb, x)
		if err != nil {
			return err
		}
		last, err = f.learn(s, x, fmt.Sprintf("%g patterns a unit  ", load))
		if err != nil {
			return err
		}
		s.Print("%-10.3f", load)
		for j, share := range turned {
			cues := noisyBy(s, fmt.Sprintf("cues of %v", load), x, share)
			for i, h := range []*memory.Hopfield{hebb, last.Net} {
				got, err := h.Recall(cues, memory.Recall{})
				if err != nil {
					return err
				}
				w, line := average(memory.Wrong(got.States, x)), &charts[j].Series[i]
				line.Points = append(line.Points, picture.Point{X: load, Y: 100 * w})
				if at, ok := crossing(line.Points); ok && held[names[i]][fmt.Sprint(100*share)] == 0 {
					held[names[i]][fmt.Sprint(100*share)] = at
				}
				if share == 0 {
					wrong[names[i]][fmt.Sprint(load)] = w
				}
				s.Print(" %6.2f %%", 100*w)
			}
			s.Print(" ")
		}
		s.Print("\n")
	}
	s.Result(map[string]any{"capacity": held, "wrong": wrong, "units": f.Units})
	f.say(s, names, turned, held)
	s.Draw([]picture.Panel{charts[0], charts[1], charts[2]})
	return s.Keep(last)
}

// say says at which load each memory breaks down.
func (f boltzmann) say(s *stage.Stage, names []string, turned []float64, held map[string]map[string]float64) {
	s.Print("\none unit in a hundred is wrong at so many patterns a unit\n")
	for _, name := range names {
		s.Print("%-8s", name)
		for _, share := range turned {
			if at := held[name][fmt.Sprint(100*share)]; at > 0 {
				s.Print("  %5.3f with %g %% flipped", at, 100*share)
			}
		}
		s.Print("\n")
	}
	if held["learnt"]["0"] <= held["Hebb"]["0"] {
		return
	}
	s.Say("Hebb's 0.14 is of a rule that never looks at what it has stored: the other patterns are noise to each. A machine that compares what it draws with what it was told takes this noise off.")
}

// learn trains a machine whose units are all visible.
func (f boltzmann) learn(s *stage.Stage, x *tensor.Dense, title string) (*memory.Boltzmann, error) {
	m, chains := &memory.Boltzmann{Net: memory.NewHopfield(x.RowLen())}, x
	opt, t, steps := &train.Adam{LR: machineRate}, grad.NewTape(0), s.EpochsOr(machineSteps)
	var err error
	for step := range steps {
		if err := s.Ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted at %sin step %d", title, step)
		}
		if f.Chains != "persistent" {
			chains = x
		}
		if chains, err = m.Sample(chains, memory.Gibbs{Seed: s.Stream(title, uint64(step))}); err != nil {
			return nil, err
		}
		t.Reset()
		loss, err := m.Loss(t, x, chains)
		if err != nil {
			return nil, err
		}
		opt.Step(t.Backward(loss))
		if !s.JSON {
			s.Progress.Show("%s%sstep %d of %d", s.Title, title, step+1, steps)
		}
	}
	return m, nil
}
