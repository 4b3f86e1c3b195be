package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// ledger is what came of trainings, by their settings. It stands in a file, a
// training a line, that is whole at any time.
type ledger struct {
	path  string // empty: nothing is kept
	lines []entry
	of    map[recipe]report.Summary
	close func() // lets other processes have the file
	free  error  // why they are not kept from it meanwhile
}

// entry is a line of the file.
type entry struct {
	Recipe  recipe         `json:"recipe"`
	Summary report.Summary `json:"summary"`
}

// maxLedger is how long a file is read. A training is a kilobyte.
const maxLedger = 64 << 20

// openLedger reads the file at path; one that is not there yet has no lines.
func openLedger(path string) (*ledger, error) {
	g := &ledger{path: path, of: map[recipe]report.Summary{}, close: func() {}}
	if path == "" {
		return g, nil
	}
	if err := target("resume", path); err != nil {
		return nil, err
	}
	if err := g.lock(); err != nil {
		return nil, err
	}
	if err := g.load(); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// lock keeps the file to this process: of two that have read it and write it
// again, each would leave out what the other adds.
func (g *ledger) lock() error {
	unlock, err := atomicfile.Lock(g.path)
	switch {
	case errors.As(err, new(*atomicfile.HeldError)):
		return fmt.Errorf("--resume %w, another table: wait for it, or name another file", err)
	case errors.Is(err, errors.ErrUnsupported):
		g.free = err
		return nil
	case err != nil:
		return fmt.Errorf("--resume %w", err)
	}
	g.close = unlock
	return nil
}

// load reads the lines that are there.
func (g *ledger) load() error {
	path := g.path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Size() > maxLedger {
		return fmt.Errorf("%s: it has %d bytes; results that table has kept have at most %d", path, info.Size(), maxLedger)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if err := g.read(line); err != nil {
			return fmt.Errorf("%s: line %d is no result that table has kept: %v; name another file or remove it", path, n, err)
		}
	}
	return nil
}

// read takes a line of the file.
func (g *ledger) read(line []byte) error {
	var l entry
	if err := jsonread.Strict(line, &l); err != nil {
		return jsonread.What(err)
	}
	l.Recipe.date()
	if err := l.Recipe.check(); err != nil {
		return err
	}
	if a := l.Summary.TestAccuracy; !(a >= 0 && a <= 1) {
		return fmt.Errorf("its test accuracy is %v", a)
	}
	g.lines = append(g.lines, l)
	g.of[l.Recipe] = l.Summary
	return nil
}

// keep adds a training and writes the file.
func (g *ledger) keep(r recipe, s report.Summary) error {
	g.of[r] = s
	if g.path == "" {
		return nil
	}
	g.lines = append(g.lines, entry{r, s})
	return atomicfile.Write(g.path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, l := range g.lines {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// missing returns those of the recipes that there is no result of.
func (g *ledger) missing(wanted []recipe) []recipe {
	var out []recipe
	for _, r := range wanted {
		if _, ok := g.of[r]; !ok {
			out = append(out, r)
		}
	}
	return out
}
