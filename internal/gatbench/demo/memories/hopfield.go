package memories

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Hopfield stores five letters in a network of a hundred units and has it recall them from
// noise. With --capacity it draws how many patterns such a network holds; other flags show it beside its relatives.
var Hopfield = stage.Demo{
	Name: "hopfield", About: "letters recalled from noise by a Hopfield network, and how many it holds",
	Lower: []string{"rise"}, Aside: []string{"noise", "units", "size", "sweeps"}, Seconds: 0.1, Act: hopfield{}, Next: "--capacity",
}

// hopfield are the flags of Hopfield.
type hopfield struct {
	Noise       float64 `default:"0.2" placeholder:"X" help:"The share of dots that are wrong in a cue, at most 0.5. Default: 0.2."`
	Capacity    bool    `help:"Draw how many patterns the network holds."`
	Continuous  bool    `help:"Show the continuous network, whose units lie between −1 and +1, beside the discrete and the modern one."`
	Pairs       bool    `help:"Store pairs: a capital calls up a small letter, and the small letter the capital."`
	Thresholds  bool    `help:"Show what Hebb's sum is divided by, the units or the patterns, where units have thresholds."`
	Autoencoder bool    `help:"Show an auto-encoder that learns the same letters beside the network."`
	Train       string  `placeholder:"FILE" help:"Store the letters of this file. A letter is a line with its name, then its rows of # and . (a dot, none), all letters of one size; with --pairs the second of two is what the first calls up. Default: five letters."`
	Test        string  `placeholder:"FILE" help:"Recall from the pictures of this file, each named as the letter that it should call up. Default: the letters, with --noise."`
}

// modes are the flags that show something else than the recall, of which there may be one.
func (f hopfield) modes() (on []string) {
	for _, m := range []struct {
		flag string
		on   bool
	}{{"--capacity", f.Capacity}, {"--continuous", f.Continuous}, {"--pairs", f.Pairs}, {"--thresholds", f.Thresholds}, {"--autoencoder", f.Autoencoder}} {
		if m.on {
			on = append(on, m.flag)
		}
	}
	return on
}

// Check returns an error for a share of dots that cannot be, and for flags that do not go together.
func (f hopfield) Check(written []cli.File) error {
	modes := f.modes()
	switch {
	case !(f.Noise >= 0 && f.Noise <= 0.5):
		return cli.Misuse("--noise %v: it must be a share from 0 to 0.5; with more the negative of a pattern is nearer", f.Noise)
	case len(modes) > 1:
		return cli.Misuse("%s and %s: they show different things; leave one of them out", modes[0], modes[1])
	case f.Capacity && f.Train != "":
		return cli.Misuse("--capacity stores random patterns, and --train letters: leave one of them out")
	case (f.Pairs || f.Autoencoder) && f.Test != "":
		return cli.Misuse("%s makes its own cues: leave --test out", modes[0])
	}
	return ownLetters{stage.Files{Train: f.Train, Test: f.Test}}.check(written)
}

// lesson is letters that are stored, what they are recalled from, and what should come of each cue.
type lesson struct {
	*letters
	cues, want *tensor.Dense
	titles     []string // of the cues
}

// lesson returns what is stored and asked for.
func (f hopfield) lesson(s *stage.Stage) (*lesson, error) {
	own := ownLetters{stage.Files{Train: f.Train, Test: f.Test}}
	sets, err := own.learnt(capitals)
	if err != nil {
		return nil, err
	}
	cues, rows, err := own.tried(sets[0])
	if err != nil {
		return nil, err
	}
	if cues == nil {
		return &lesson{sets[0], noisy(s, sets[0].x, f.Noise), sets[0].x, sets[0].names}, nil
	}
	return &lesson{sets[0], cues.x, rowsOf(sets[0].x, rows), cues.names}, nil
}

// Run stores letters and recalls them, or shows what a flag says.
func (f hopfield) Run(s *stage.Stage) error {
	switch {
	case f.Capacity:
		return showCapacity(s)
	case f.Pairs:
		return f.showPairs(s)
	}
	l, err := f.lesson(s)
	switch {
	case err != nil:
		return err
	case f.Continuous:
		return showContinuous(s, l)
	case f.Thresholds:
		return showThresholds(s, l)
	case f.Autoencoder:
		return showAutoencoder(s, l, f.Noise)
	}
	return f.showRecall(s, l)
}

// storedIn says what the letters are stored in, and what is wrong with the cues.
func (f hopfield) storedIn(l *lesson) string {
	all, cues := fmt.Sprintf("%d letters", len(l.names)), fmt.Sprintf("In each letter, %.0f %% of the dots are flipped.", 100*f.Noise)
	if f.Train == "" {
		all = "Five letters"
	}
	if f.Test != "" {
		cues = fmt.Sprintf("The %d cues are those of %s.", l.cues.Rows(), f.Test)
	}
	return fmt.Sprintf("%s of %d×%d dots are stored in the weights between %d units. %s", all, l.wide, l.high, l.x.RowLen(), cues)
}

// showRecall recalls the letters by three rules.
func (f hopfield) showRecall(s *stage.Stage, l *lesson) error {
	s.Say("%s Then one unit after the other is updated from all the others, until none changes.", f.storedIn(l))
	var found *memory.Recalled
	right := map[string]int{}
	share, shown := map[string]any{}, &picture.Chart{Title: "energy", X: picture.Axis{Label: "units turned over"}}
	s.Print("%-15s %10s    %s\n", "weights by", "dots right", "letters right")
	for i, rule := range []memory.Rule{memory.Hebb, memory.Storkey, memory.PseudoInverse} {
		h, err := memory.Store(rule, l.x)
		if err != nil {
			return err
		}
		got, err := h.Recall(l.cues, memory.Recall{Random: true, Seed: s.Stream("recall", 0), Trace: true})
		if err != nil {
			return err
		}
		dots, n := 1-average(memory.Wrong(got.States, l.want)), recalledOf(got.States, l.want)
		share[rule.String()], right[rule.String()] = dots, n
		s.Print("%-15s %8.1f %%    %d of %d\n", rule, 100*dots, n, l.want.Rows())
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
	s.Result(map[string]any{"right": share, "letters": right, "noise": f.Noise})
	s.Lines(l.columns("stored", "cue", "recalled by the pseudo-inverse") + l.sideBySide(l.want, l.cues, found.States))
	s.Say("%s", hopfieldWords(right, l.want.Rows()))
	rows := l.panels([]string{"", "cue", "recalled"}, l.want, l.cues, found.States)
	s.Seen(slices.Concat(rows...)...)
	s.Draw(append(rows, []picture.Panel{shown})...)
	return nil
}

// panels show the first rows of arrays as letters, an array a row; one without a title has the letters' names.
func (l *lesson) panels(titles []string, xs ...*tensor.Dense) [][]picture.Panel {
	rows := make([][]picture.Panel, len(xs))
	for i, x := range xs {
		for k := range min(shownLetters, x.Rows()) {
			rows[i] = append(rows[i], l.dots(cmp.Or(titles[i], l.titles[k]), x.Row(k)))
		}
	}
	return rows
}

// hopfieldWords says what came of all the letters, by the rule.
func hopfieldWords(letters map[string]int, all int) string {
	rest := "the others take off what the network says already."
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
	return noisyBy(s, "noise", x, share)
}

// noisyBy is noisy by the draws of a part.
func noisyBy(s *stage.Stage, part string, x *tensor.Dense, share float64) *tensor.Dense {
	rng, y := s.RNG(part), x.Clone()
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

// fromNought is a line through numbers, from 0 on.
func fromNought(name string, colour int, ys []float64) picture.Series {
	c := stage.Curve(name, colour, ys)
	for i := range c.Points {
		c.Points[i].X--
	}
	return c
}
