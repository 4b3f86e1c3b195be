package stage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/train"
)

// Stage is where a demo shows, and the settings that a user may have changed.
type Stage struct {
	Ctx      context.Context
	Out      *report.Printer
	Progress *report.Progress
	JSON     bool   // an object a line instead of words
	Seed     uint64 // of first weights, order and dropout
	Epochs   int    // 0: the demo's own
	Plot     bool   // show the panels of the picture, too
	Width    int    // of the terminal; 0: there is none
	Next     string // the command to try next, said at the end; empty: none
	Data     string // folder of the datasets; empty: where they usually are
	Picture  string // file; empty: none
	Save     string // file; empty: none
	Title    string // of the progress line; empty: none
	Few      int    // so many texts of a dataset are read at most, and one batch an epoch for each 25; 0: all. Tests set it

	demo    Demo
	start   time.Time
	saved   []string        // what was written, in words
	undrawn error           // why the picture was not
	numbers Numbers         // of the result
	seen    []picture.Panel // what the terminal has shown
}

// Show runs a demo on the stage, and says how long it took.
func (s *Stage) Show(d Demo) error {
	s.demo, s.start = d, time.Now()
	err := d.Act.Run(s)
	s.Progress.Clear()
	if err != nil {
		return err
	}
	took := time.Since(s.start)
	if s.JSON {
		s.Out.Encode(map[string]any{"event": "end", "demo": d.Name, "ms": report.Milliseconds(took)})
	} else {
		s.Out.Lines(s.saved)
		s.Out.Printf("%.1f s in all\n", took.Seconds())
		if s.Next != "" {
			s.Out.Next(s.Next)
		}
	}
	return cmp.Or(s.Out.Err(), s.undrawn)
}

// Stream returns the seed of what a part of a demo draws at a step: a hash of the stage's seed,
// the part and the step. With Seed + step neighbouring seeds would learn from nearly the same data.
func (s *Stage) Stream(part string, step uint64) uint64 {
	h := mix(s.Seed)
	for _, c := range []byte(part) {
		h = mix(h ^ uint64(c))
	}
	return mix(h ^ step)
}

// mix is a step of SplitMix64 (Steele, Lea and Flood, 2014), which is one to one.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// RNG returns a source of what a part of a demo draws one after the other, such as its first weights.
func (s *Stage) RNG(part string) *rand.Rand { return rand.New(rand.NewPCG(s.Stream(part, 0), 0)) }

// EpochsOr returns how many epochs, or steps, there are to be.
func (s *Stage) EpochsOr(preset int) int {
	if s.Epochs > 0 {
		return s.Epochs
	}
	return preset
}

// Count returns how many of n texts or sequences are used: all, or at most Few.
func (s *Stage) Count(n int) int {
	if s.Few > 0 {
		return min(n, s.Few)
	}
	return n
}

// Rows returns the numbers of those texts.
func (s *Stage) Rows(n int) []int32 { return Every(s.Count(n)) }

// Folder returns where the demo's dataset is.
func (s *Stage) Folder() (string, error) {
	path, err := text.Find(s.Data, s.demo.Data)
	if err != nil {
		return "", fmt.Errorf("demo %s: %w", s.demo.Name, err)
	}
	return path, nil
}

// Enough returns an error unless there are texts to learn and texts to try in a folder.
func (s *Stage) Enough(folder string, learnt, tried int) error {
	if learnt == 0 || tried == 0 {
		return fmt.Errorf("demo %s: %s has %d texts to learn and %d to try; it takes some of each: are the files whole?", s.demo.Name, folder, learnt, tried)
	}
	return nil
}

// Say prints a paragraph for people.
func (s *Stage) Say(format string, args ...any) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Paragraph(format, args...)
	}
}

// Print prints lines for people, as they stand.
func (s *Stage) Print(format string, args ...any) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Printf(format, args...)
	}
}

// Verdict is what a share of right answers says of what was to be learnt.
func Verdict(share float64) string {
	switch {
	case share >= 0.9:
		return "has learnt it"
	case share >= 0.5:
		return "has learnt it in part"
	}
	return "has not learnt it"
}

// Lines prints the lines of a text, each set in, with an empty one around them.
func (s *Stage) Lines(text string) {
	s.Print("\n")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		s.Print("%s\n", strings.TrimRight("  "+line, " \n"))
	}
	s.Print("\n")
}

// Heat prints a table of weights in shades, for people.
func (s *Stage) Heat(h *picture.Heat) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Drawn(h.Text(s.Width, s.Out.Coloured()))
		s.Seen(h)
	}
}

// Seen notes that the terminal shows these panels already, so that --plot leaves them out.
func (s *Stage) Seen(panels ...picture.Panel) { s.seen = append(s.seen, panels...) }

// Result says for machines what came of the demo.
func (s *Stage) Result(values map[string]any) {
	s.numbers = Numbers{}
	for name, v := range values {
		s.numbers.add(name, v)
	}
	if s.JSON {
		values["event"], values["demo"], values["seed"] = "result", s.demo.Name, s.Seed
		s.Out.Encode(values)
	}
}

// Keep saves a model, if that was asked for.
func (s *Stage) Keep(model any) error {
	if s.Save == "" {
		return nil
	}
	if err := train.Save(s.Save, model); err != nil {
		return err
	}
	s.saved = append(s.saved, "saved to "+s.Save)
	return nil
}

// Draw shows the panels of a picture in the terminal and writes them to a file, each if it was asked for.
// That the file cannot be written is said at the end, so that the model is not lost with it.
func (s *Stage) Draw(rows ...[]picture.Panel) {
	if s.Plot && !s.JSON {
		var rest [][]picture.Panel // of which no text stands there yet
		for _, row := range rows {
			rest = append(rest, slices.DeleteFunc(slices.Clone(row), func(p picture.Panel) bool { return slices.Contains(s.seen, p) }))
		}
		s.Progress.Clear()
		s.Out.Drawn("\n" + picture.Text(rest, s.Width, s.Out.Coloured()))
	}
	if s.Picture == "" {
		return
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(s.Picture)), ".")
	err := atomicfile.Write(s.Picture, func(w io.Writer) error { return picture.Grid(rows).Write(w, format) })
	if s.undrawn = err; err == nil {
		s.saved = append(s.saved, "picture in "+s.Picture)
	}
}
