package train

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/internal/weights"
)

// Checkpoint is all that a run needs to go on as if it had never stopped, to the
// same bits. Model and Optimiser are needed; the rest is saved and loaded where
// it is given. [Fit] keeps one by itself; it is for loops of another order:
//
//	c := &train.Checkpoint{Model: net, Optimiser: opt, Tape: t}
//	if resume {
//		err = c.Load(path) // then on from t.Step()
//	}
//	…
//	err = c.Save(path)
//
// The file is that of [Save] with more in it: the optimiser's arrays as
// opt/PATH/NAME, the average as ema/PATH, the best state as best/PATH, and steps,
// seed, random source and history as JSON in the metadata, under "run". It holds
// no time and no number of threads, so equal runs give equal files. Rates, decays
// and schedules are the program's: of schedules only a [Plateau] has a state.
type Checkpoint struct {
	Model     any
	Optimiser Optimiser // one of this package, or a [StatefulOptimiser]
	Tape      *grad.Tape
	Average   *EMA
	History   *History
	RNG       interface { // a source of random numbers that can be saved, such as *rand.PCG and *rand.ChaCha8 of math/rand/v2
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}

	best  state
	begun begun
}

// keeper is an optimiser whose state can be saved.
type keeper interface {
	Optimiser
	rule
	memory() *core
}

// Save writes the checkpoint to a file at exactly that path, whole or not at
// all.
func (c *Checkpoint) Save(path string) error {
	s, err := c.file()
	return s.save(path, err)
}

// Write writes the checkpoint to w.
func (c *Checkpoint) Write(w io.Writer) error {
	s, err := c.file()
	return s.write(w, err)
}

// file returns what is to be written.
func (c *Checkpoint) file() (*written, error) {
	places, err := weights.Of(c.Model)
	if err != nil {
		return nil, err
	}
	opt, err := c.memory()
	if err != nil {
		return nil, err
	}
	run, err := c.state()
	if err != nil {
		return nil, err
	}
	remembered, err := opt.save(c, run)
	if err != nil {
		return nil, err
	}
	places = append(append(places, remembered...), c.copies()...)
	text, err := json.Marshal(run)
	if err != nil {
		return nil, err
	}
	return fileOf(c.Model, places, map[string]string{runKey: string(text)})
}

// Load is [Checkpoint.Read] of the file at path.
func (c *Checkpoint) Load(path string) error {
	return load(path, func(r io.ReaderAt, size int64) error { return readRun(r, size, c.take) })
}

// Read reads a checkpoint back from a file of size bytes, which r reads. A file of another
// model, of another optimiser, cut short or not a checkpoint gives an error that says so,
// and changes nothing.
func (c *Checkpoint) Read(r io.ReaderAt, size int64) error { return unread(readRun(r, size, c.take)) }

// memory returns what the optimiser remembers.
func (c *Checkpoint) memory() (memory, error) { return memoryOf(c.Optimiser) }

// namedSlot is what the optimiser remembers of the Param of a path.
type namedSlot struct {
	name  string
	param *grad.Param
	*slot
}

// slots returns what is remembered of the model's Params, in their order.
func (c *Checkpoint) slots(k keeper) []namedSlot {
	var out []namedSlot
	for name, p := range grad.Params(c.Model) {
		if s := k.memory().slots[p]; s != nil {
			out = append(out, namedSlot{name, p, s})
		}
	}
	return out
}

func optPlaces(arrays []string, slots []namedSlot) []weights.Place {
	var out []weights.Place
	for _, s := range slots {
		for i, array := range arrays {
			out = append(out, weights.Place{Name: "opt/" + s.name + "/" + array, Shape: s.param.Value.Shape(), Data: s.arrays[i]})
		}
	}
	return out
}

// copies are the places of the model's other states.
func (c *Checkpoint) copies() []weights.Place {
	out := c.best.places("best/")
	if c.Average != nil {
		out = append(out, c.Average.average.places("ema/")...)
	}
	return out
}

// checkpointFile is a checkpoint that was read.
type checkpointFile struct {
	tensors map[string]*safetensors.Tensor
	run     runState
}

// readRun reads a checkpoint for take.
func readRun(r io.ReaderAt, size int64, take func(f *checkpointFile) error) error {
	tensors, metadata, err := open(r, size)
	if err != nil {
		return err
	}
	text, ok := metadata[runKey]
	if !ok {
		return fmt.Errorf("the metadata has no %q: it is no checkpoint; Load reads the Params of a saved model", runKey)
	}
	f := &checkpointFile{tensors: tensors}
	if err := jsonread.Unmarshal([]byte(text), &f.run); err != nil {
		return fmt.Errorf("the metadata %q: %w", runKey, jsonread.What(err))
	}
	if err := f.run.sound(); err != nil {
		return err
	}
	return take(f)
}

// take compares everything in f, and only then changes c.
func (c *Checkpoint) take(f *checkpointFile) error {
	opt, err := c.memory()
	if err != nil {
		return err
	}
	places, err := weights.Of(c.Model)
	if err != nil {
		return err
	}
	err = f.run.fits(c, opt)
	remembered, take, unknown := opt.load(c, &f.run)
	if unknown != nil {
		err = errors.Join(err, unknown)
	}
	places = append(places, c.copies()...)
	if err == nil {
		f.ignoreBest(c)
		err = weights.Compare(f.tensors, slices.Concat(places, remembered), "run")
	}
	if err != nil {
		return err
	}
	for i := range remembered {
		remembered[i].Make()
	}
	weights.Fill(remembered, f.tensors) // which nobody reads yet
	if err := f.run.apply(c, take); err != nil {
		return err
	}
	weights.Fill(places, f.tensors)
	changed(c.Model)
	return nil
}

// ignoreBest forgets the best state of a Fit if c does not ask for it.
func (f *checkpointFile) ignoreBest(c *Checkpoint) {
	if c.best != nil {
		return
	}
	for name := range f.tensors {
		if len(name) > 5 && name[:5] == "best/" {
			delete(f.tensors, name)
		}
	}
}

// slots returns empty slots for the Params of the file's optimiser.
func (s *runState) slots(model any, arrays int) ([]namedSlot, error) {
	var out []namedSlot
	known := map[string]bool{}
	for name, p := range grad.Params(model) {
		known[name] = true
		kept, ok := s.Params[name]
		if !ok {
			continue
		}
		m := newSlot(arrays, len(p.Value.Data))
		m.steps, m.number = kept.Steps, float64(kept.Number)
		out = append(out, namedSlot{name, p, m})
	}
	var unknown []string
	for name := range s.Params {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if slices.Sort(unknown); unknown != nil {
		return nil, fmt.Errorf("the file is not of this run: its optimiser knows Params that the model has not: %s", weights.List(unknown))
	}
	return out, nil
}
