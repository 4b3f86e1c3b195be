package memories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Hopfield stores five letters in a network of a hundred units and has it recall them from
// noise. With --capacity it draws how many patterns such a network holds.
var Hopfield = stage.Demo{Name: "hopfield", About: "letters recalled from noise by a Hopfield network, and how many it holds", Aside: []string{"noise", "units"}, Seconds: 0.1, Act: hopfield{}, Next: "--capacity"}

// hopfield are the flags of Hopfield.
type hopfield struct {
	Noise    float64 `default:"0.2" placeholder:"X" help:"The share of dots that are wrong in a cue, at most 0.5. Default: 0.2."`
	Capacity bool    `help:"Draw how many patterns the network holds."`
}

// Check returns an error for a share of dots that cannot be.
func (f hopfield) Check([]cli.File) error {
	if !(f.Noise >= 0 && f.Noise <= 0.5) {
		return cli.Misuse("--noise %v: it must be a share from 0 to 0.5; with more the negative of a pattern is nearer", f.Noise)
	}
	return nil
}

// letterSide is how many units a letter is wide and high.
const letterSide = 10

// glyphs are the letters that are stored.
var glyphs = []struct{ name, rows string }{
	{"G", "...#####.. ..#######. .##....##. .##....... .##....... .##..####. .##....##. .##....##. ..#######. ...#####.."},
	{"R", ".#######.. .########. .##....##. .##....##. .########. .#######.. .##.##.... .##..##... .##...##.. .##....##."},
	{"A", "....##.... ...####... ...#..#... ..##..##.. ..##..##.. .##....##. .########. .########. ##......## ##......##"},
	{"P", "#######... ########.. ##....##.. ##.....##. ##....##.. ########.. #######... ##........ ##........ ##........"},
	{"H", "##......## ##......## ##......## ##......## ########## ########## ##......## ##......## ##......## ##......##"},
}

// letters returns them as rows of +1 and −1.
func letters() *tensor.Dense {
	x := tensor.New(len(glyphs), letterSide*letterSide)
	for k, g := range glyphs {
		for i, c := range strings.ReplaceAll(g.rows, " ", "") {
			x.Row(k)[i] = -1
			if c == '#' {
				x.Row(k)[i] = 1
			}
		}
	}
	return x
}

// Run stores letters and recalls them, or shows the capacity.
func (f hopfield) Run(s *stage.Stage) error {
	if f.Capacity {
		return showCapacity(s)
	}
	stored := letters()
	cues := noisy(s, stored, f.Noise)
	s.Say("Five letters of %d×%d dots are stored in the weights between %d units. In each letter, %.0f %% of the dots are flipped. Then one unit after the other is updated from all the others, until none changes.",
		letterSide, letterSide, letterSide*letterSide, 100*f.Noise)
	var found *memory.Recalled
	letters := map[string]int{}
	share, shown := map[string]any{}, &picture.Chart{Title: "energy", X: picture.Axis{Label: "units turned over"}}
	s.Print("%-15s %10s    %s\n", "weights by", "dots right", "letters right")
	for i, rule := range []memory.Rule{memory.Hebb, memory.Storkey, memory.PseudoInverse} {
		h, err := memory.Store(rule, stored)
		if err != nil {
			return err
		}
		got, err := h.Recall(cues, memory.Recall{Random: true, Seed: s.Stream("recall", 0), Trace: true})
		if err != nil {
			return err
		}
		share[rule.String()], letters[rule.String()] = 1-average(memory.Wrong(got.States, stored)), recalledOf(got.States, stored)
		s.Print("%-15s %8.1f %%    %d of %d\n", rule, 100*(1-average(memory.Wrong(got.States, stored))), recalledOf(got.States, stored), len(glyphs))
		for k, energy := range got.Energy {
			name := ""
			if k == 0 {
				name = rule.String()
			}
			shown.Series = append(shown.Series, fromNought(name, i, energy))
		}
		found = got
		if rule == memory.PseudoInverse {
			if err := s.Keep(h); err != nil {
				return err
			}
		}
	}
	s.Result(map[string]any{"right": share, "letters": letters, "noise": f.Noise})
	s.Lines(fmt.Sprintf("%-20s     %-20s     %s\n\n", "stored", "cue", "recalled by the pseudo-inverse") + sideBySide(stored, cues, found.States))
	s.Say("%s", hopfieldWords(letters))
	rows := [][]picture.Panel{nil, nil, nil}
	for k, g := range glyphs {
		for i, x := range []*tensor.Dense{stored, cues, found.States} {
			title := []string{g.name, "cue", "recalled"}[i]
			rows[i] = append(rows[i], dots(title, x.Row(k)))
		}
	}
	s.Seen(slices.Concat(rows...)...)
	s.Draw(append(rows, []picture.Panel{shown})...)
	return nil
}

// hopfieldWords says what came of the letters, by the rule.
func hopfieldWords(letters map[string]int) string {
	rest := "the others take off what the network says already."
	all := len(glyphs)
	switch hebb, best := letters[memory.Hebb.String()], max(letters[memory.Storkey.String()], letters[memory.PseudoInverse.String()]); {
	case hebb == all:
		return "From these cues Hebb's rule, which only adds the letters up, recalls all of them; with more noise it mixes those that are alike, and " + rest
	case hebb < best:
		return "The letters are alike, and Hebb's rule, which only adds them up, mixes some of them; " + rest
	}
	return "These cues are too far from the letters for any of the rules to recall them all."
}

// noisy turns over a share of the units of each row, drawn from the seed.
func noisy(s *stage.Stage, x *tensor.Dense, share float64) *tensor.Dense {
	rng, y := s.RNG("noise"), x.Clone()
	for k := range y.Rows() {
		for _, i := range rng.Perm(y.RowLen())[:int(share*float64(y.RowLen())+0.5)] {
			y.Row(k)[i] *= -1
		}
	}
	return y
}

// recalledOf is how many rows of x are those of y.
func recalledOf(x, y *tensor.Dense) int {
	n := 0
	for _, w := range memory.Wrong(x, y) {
		if w == 0 {
			n++
		}
	}
	return n
}

// average is the mean of some numbers.
func average(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(1, len(xs)))
}

// sideBySide shows the rows of some arrays as letters, two columns of the terminal a dot.
func sideBySide(xs ...*tensor.Dense) string {
	var b strings.Builder
	for k := range glyphs {
		for y := range letterSide {
			for i, x := range xs {
				if i > 0 {
					b.WriteString("     ")
				}
				for _, v := range x.Row(k)[y*letterSide : (y+1)*letterSide] {
					b.WriteString(map[bool]string{true: "██", false: "··"}[v > 0])
				}
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// dots is a letter as a table of shades.
func dots(title string, x []tensor.Float) picture.Panel {
	h := &picture.Heat{Title: title, Top: 1}
	for y := range letterSide {
		row := make([]float64, letterSide)
		for i, v := range x[y*letterSide : (y+1)*letterSide] {
			row[i] = float64(v+1) / 2
		}
		h.Values = append(h.Values, row)
	}
	return h
}

// fromNought is a line through numbers, from 0 on.
func fromNought(name string, colour int, ys []float64) picture.Series {
	c := stage.Curve(name, colour, ys)
	for i := range c.Points {
		c.Points[i].X--
	}
	return c
}

// showCapacity finds how many patterns a network holds: units that are wrong after a recall that
// began at the pattern itself.
func showCapacity(s *stage.Stage) error {
	const units = 500
	s.Say("Random patterns are stored in %d units, and each is used as its own cue. Near 0.14 patterns per unit, Hebb's memory breaks down abruptly.", units)
	rules := []memory.Rule{memory.Hebb, memory.Storkey, memory.PseudoInverse}
	chart := &picture.Chart{Title: "units that are wrong, of a hundred", X: picture.Axis{Label: "patterns a unit"}}
	held := map[string]any{}
	s.Print("patterns a unit")
	for i, r := range rules {
		chart.Series = append(chart.Series, picture.Series{Name: r.String(), Mark: picture.Curve, Colour: picture.Colour(i)})
		s.Print("  %16s", r)
	}
	s.Print("\n")
	for _, load := range []float64{0.02, 0.05, 0.08, 0.1, 0.12, 0.13, 0.138, 0.15, 0.16, 0.18, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6} {
		s.Print("%15.3f", load)
		for i, r := range rules {
			if err := s.Ctx.Err(); err != nil {
				return fmt.Errorf("interrupted at %v patterns a unit", load)
			}
			wrong, err := wrongAt(s, r, units, int(load*units))
			if err != nil {
				return err
			}
			line := &chart.Series[i]
			line.Points = append(line.Points, picture.Point{X: load, Y: 100 * wrong})
			s.Print("  %9.2f %% wrong", 100*wrong)
			if at, ok := crossing(line.Points); ok && held[r.String()] == nil {
				held[r.String()] = at
			}
		}
		s.Print("\n")
	}
	s.Result(map[string]any{"capacity": held, "units": units})
	for _, r := range rules {
		if at, ok := held[r.String()]; ok {
			s.Print("%-15s has one unit in a hundred wrong at %.3f patterns a unit\n", r, at)
		} else {
			s.Print("%-15s has less than one unit in a hundred wrong at all of these\n", r)
		}
	}
	s.Say("In theory, Hebb's rule breaks down at 0.138.")
	s.Draw([]picture.Panel{chart})
	return nil
}

// crossing is where the last two points go from under to over one in a hundred.
func crossing(ps []picture.Point) (x float64, ok bool) {
	if len(ps) < 2 {
		return 0, false
	}
	a, b := ps[len(ps)-2], ps[len(ps)-1]
	if a.Y > 1 || b.Y <= 1 {
		return 0, false
	}
	return a.X + (b.X-a.X)*(1-a.Y)/(b.Y-a.Y), true
}

// wrongAt is which share of the units is wrong with so many patterns stored.
func wrongAt(s *stage.Stage, rule memory.Rule, units, patterns int) (float64, error) {
	x := coins(s, units, patterns)
	h, err := memory.Store(rule, x)
	if err != nil {
		return 0, err
	}
	got, err := h.Recall(x, memory.Recall{})
	if err != nil {
		return 0, err
	}
	return average(memory.Wrong(got.States, x)), nil
}

// coins are random patterns, a row of +1 and −1 each.
func coins(s *stage.Stage, units, patterns int) *tensor.Dense {
	rng, x := rand.New(rand.NewPCG(s.Stream("patterns", uint64(patterns)), 0)), tensor.New(patterns, units)
	for i := range x.Data {
		x.Data[i] = tensor.Float(2*rng.IntN(2) - 1)
	}
	return x
}
