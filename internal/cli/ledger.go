package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// Ledger is what came of trainings, by their settings. It stands in a file, a
// training a line, that is whole at any time.
type Ledger[R comparable, S any] struct {
	Path  string // empty: nothing is kept
	Of    map[R]S
	Who   string // which command keeps it
	Check func(r *R, s S) error

	lines []entry[R, S]
	Close func() // lets other processes have the file
	free  error  // why they are not kept from it meanwhile
}

// entry is a line of the file.
type entry[R, S any] struct {
	Recipe  R `json:"recipe"`
	Summary S `json:"summary"`
}

// maxLedger is how long a file is read. A training is a kilobyte.
const maxLedger = 64 << 20

// Open reads the file, if there is to be one; one that is not there yet has no lines.
func (g *Ledger[R, S]) Open() error {
	g.Of, g.Close = map[R]S{}, func() {}
	if g.Path == "" {
		return nil
	}
	if err := Target("resume", g.Path); err != nil {
		return err
	}
	if err := g.lock(); err != nil {
		return err
	}
	if err := g.load(); err != nil {
		g.Close()
		return err
	}
	return nil
}

// Unlocked says, if so, that nothing keeps another process from writing the file too.
func (g *Ledger[R, S]) Unlocked(w io.Writer) {
	if g.free != nil {
		report.Message(w, fmt.Sprintf("--resume %s: nothing keeps a second %s from writing it too: %v", g.Path, g.Who, g.free))
	}
}

// lock keeps the file to this process: of two that have read it and write it
// again, each would leave out what the other adds.
func (g *Ledger[R, S]) lock() error {
	unlock, err := atomicfile.Lock(g.Path)
	switch {
	case errors.As(err, new(*atomicfile.HeldError)):
		return fmt.Errorf("--resume %w, another %s: wait for it, or name another file", err, g.Who)
	case errors.Is(err, errors.ErrUnsupported):
		g.free = err
		return nil
	case err != nil:
		return fmt.Errorf("--resume %w", err)
	}
	g.Close = unlock
	return nil
}

// load reads the lines that are there.
func (g *Ledger[R, S]) load() error {
	path := g.Path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Size() > maxLedger {
		return fmt.Errorf("%s: it has %d bytes; results that %s has kept have at most %d", path, info.Size(), g.Who, maxLedger)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n := 1; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if err := g.read(line); err != nil {
			return fmt.Errorf("%s: line %d is no result that %s has kept: %v; name another file or remove it", path, n, g.Who, err)
		}
	}
	return nil
}

// read takes a line of the file.
func (g *Ledger[R, S]) read(line []byte) error {
	var l entry[R, S]
	if err := jsonread.Strict(line, &l); err != nil {
		return jsonread.What(err)
	}
	if err := g.Check(&l.Recipe, l.Summary); err != nil {
		return err
	}
	g.lines = append(g.lines, l)
	g.Of[l.Recipe] = l.Summary
	return nil
}

// Keep adds a training and writes the file.
func (g *Ledger[R, S]) Keep(r R, s S) error {
	g.Of[r] = s
	if g.Path == "" {
		return nil
	}
	g.lines = append(g.lines, entry[R, S]{r, s})
	return atomicfile.Write(g.Path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, l := range g.lines {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// Missing returns those of the recipes that there is no result of.
func (g *Ledger[R, S]) Missing(wanted []R) []R {
	var out []R
	for _, r := range wanted {
		if _, ok := g.Of[r]; !ok {
			out = append(out, r)
		}
	}
	return out
}
