package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
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
	JSON     bool    // an object a line instead of words
	Seed     uint64  // of first weights, order and dropout
	Epochs   int     // 0: the demo's own
	Data     string  // folder of the datasets; empty: where they usually are
	Text     string  // a file to learn from; empty: the demo's own
	Picture  string  // file; empty: none
	Save     string  // file; empty: none
	Noise    float64 // of hopfield's cues, a share; 0: the demo's own
	Capacity bool    // hopfield shows how many patterns it holds
	Tasks    []int   // of babi; nil: 1 and 2
	Joint    bool    // babi has one network for all tasks
	Cell     string  // one of the demo's Cells; empty: the first
	Target   string  // one of the demo's Targets; empty: the first
	NoTimes  bool    // babi's sentences are a set
	Title    string  // of the progress line; empty: none
	Few      int     // so many texts of a dataset are read at most, and one batch an epoch for each 25; 0: all. Tests set it

	demo    Demo
	start   time.Time
	saved   []string // what was written, in words
	undrawn error    // why the picture was not
	numbers Numbers  // of the result
}

// Show runs a demo on the stage, and says how long it took.
func (s *Stage) Show(d Demo) error {
	s.demo, s.start = d, time.Now()
	err := d.Run(s)
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
	}
	return cmp.Or(s.Out.Err(), s.undrawn)
}

// stream returns the seed of what a part of a demo draws at a step: a hash of the stage's seed,
// the part and the step. With Seed + step neighbouring seeds would learn from nearly the same data.
func (s *Stage) stream(part string, step uint64) uint64 {
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

// rng returns a source of what a part of a demo draws one after the other, such as its first weights.
func (s *Stage) rng(part string) *rand.Rand { return rand.New(rand.NewPCG(s.stream(part, 0), 0)) }

// epochs returns how many epochs, or steps, there are to be.
func (s *Stage) epochs(preset int) int {
	if s.Epochs > 0 {
		return s.Epochs
	}
	return preset
}

// cell returns the network that was asked for.
func (s *Stage) cell() string { return cmp.Or(s.Cell, s.demo.Cells[0]) }

// few returns the numbers of n texts, or of the first Few.
func (s *Stage) few(n int) []int32 {
	if s.Few > 0 {
		n = min(n, s.Few)
	}
	return every(n)
}

// folder returns where the demo's dataset is.
func (s *Stage) folder() (string, error) {
	path, err := text.Find(s.Data, s.demo.Data)
	if err != nil {
		return "", fmt.Errorf("demo %s: %w", s.demo.Name, err)
	}
	return path, nil
}

// enough returns an error unless there are texts to learn and texts to try in a folder.
func (s *Stage) enough(folder string, learnt, tried int) error {
	if learnt == 0 || tried == 0 {
		return fmt.Errorf("demo %s: %s has %d texts to learn and %d to try; it takes some of each: are the files whole?", s.demo.Name, folder, learnt, tried)
	}
	return nil
}

// say prints a paragraph for people.
func (s *Stage) say(format string, args ...any) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Paragraph(format, args...)
	}
}

// print prints lines for people, as they stand.
func (s *Stage) print(format string, args ...any) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Printf(format, args...)
	}
}

// verdict is what a share of right answers says of what was to be learnt.
func verdict(share float64) string {
	switch {
	case share >= 0.9:
		return "has learnt it"
	case share >= 0.5:
		return "has learnt it in part"
	}
	return "has not learnt it"
}

// lines prints the lines of a text, each set in, with an empty one around them.
func (s *Stage) lines(text string) {
	s.print("\n")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		s.print("%s\n", strings.TrimRight("  "+line, " \n"))
	}
	s.print("\n")
}

// heat prints a table of weights in shades, for people.
func (s *Stage) heat(h *picture.Heat) {
	if !s.JSON {
		s.Progress.Clear()
		s.Out.Drawn(h.Text(0, s.Out.Coloured()))
	}
}

// result says for machines what came of the demo.
func (s *Stage) result(values map[string]any) {
	s.numbers = Numbers{}
	for name, v := range values {
		s.numbers.add(name, v)
	}
	if s.JSON {
		values["event"], values["demo"], values["seed"] = "result", s.demo.Name, s.Seed
		s.Out.Encode(values)
	}
}

// keep saves a model, if that was asked for.
func (s *Stage) keep(model any) error {
	if s.Save == "" {
		return nil
	}
	if err := train.Save(s.Save, model); err != nil {
		return err
	}
	s.saved = append(s.saved, "saved to "+s.Save)
	return nil
}

// draw writes the picture, if one was asked for: rows of panels. That it cannot be written is
// said at the end, so that the model is not lost with it.
func (s *Stage) draw(rows ...[]picture.Panel) error {
	if s.Picture == "" {
		return nil
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(s.Picture)), ".")
	err := atomicfile.Write(s.Picture, func(w io.Writer) error { return picture.Grid(rows).Write(w, format) })
	if err != nil {
		s.undrawn = err
		return nil
	}
	s.saved = append(s.saved, "picture in "+s.Picture)
	return nil
}
