package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/weights"
	"github.com/edgewise-ml/edgewise/tensor"
)

// StatefulOptimiser is an Optimiser of another package that a [Checkpoint] can save:
// a [Fit] with one goes on from a file as with those of this package. The file knows
// it by the name of its Go type.
type StatefulOptimiser interface {
	Optimiser
	// State returns what it remembers. The arrays are only read, and before the
	// next Step.
	State() OptimiserState
	// SetState takes up a state of a file. The arrays are its to keep. An error
	// says what does not fit, and leaves it as it was.
	SetState(OptimiserState) error
}

// OptimiserState is what an optimiser remembers of its steps. Settings, such as
// rates, are the program's and no part of it.
type OptimiserState struct {
	Steps   int                                  // made so far
	Numbers map[string]float64                   // by name
	Arrays  map[string]map[string][]tensor.Float // by the path of a Param, then by name; each as long as the Param
}

// memory is what an optimiser remembers, on its way to a file and back.
type memory interface {
	name() string
	plateau() *Plateau
	// save notes in s what is no array, and returns the arrays.
	save(c *Checkpoint, s *runState) ([]weights.Place, error)
	// load returns arrays to be filled from the file that s is of, and a function
	// that then makes them the optimiser's.
	load(c *Checkpoint, s *runState) ([]weights.Place, func() error, error)
}

// memoryOf returns what an optimiser remembers, or says why it cannot be saved.
func memoryOf(o Optimiser) (memory, error) {
	if isNil(o) {
		return nil, errors.New("there is no optimiser; give the one that trains the model")
	}
	switch o := o.(type) {
	case keeper:
		return builtIn{o}, nil
	case StatefulOptimiser:
		return foreign{o}, nil
	}
	return nil, fmt.Errorf("the state of a %T cannot be saved; use an optimiser of this package, or give yours the methods of train.StatefulOptimiser", o)
}

// builtIn is the memory of an optimiser of this package.
type builtIn struct{ keeper }

func (k builtIn) name() string      { return k.settings().name }
func (k builtIn) plateau() *Plateau { return k.settings().plateau() }

func (k builtIn) save(c *Checkpoint, s *runState) ([]weights.Place, error) {
	settings, memory := k.settings(), k.memory()
	s.Optimiser, s.Steps = settings.name, memory.steps
	slots := c.slots(k.keeper)
	for _, m := range slots {
		s.Params[m.name] = slotState{m.steps, jsonFloat(m.number)}
	}
	if len(slots) < len(memory.slots) {
		return nil, fmt.Errorf("the optimiser remembers %d Params, of which the model has %d; one optimiser serves one model", len(memory.slots), len(slots))
	}
	if p := settings.plateau(); p != nil {
		s.Plateau = &p.state
	}
	return optPlaces(settings.arrays, slots), nil
}

func (k builtIn) load(c *Checkpoint, s *runState) ([]weights.Place, func() error, error) {
	arrays := k.settings().arrays
	slots, err := s.slots(c.Model, len(arrays))
	return optPlaces(arrays, slots), func() error {
		memory := k.memory()
		memory.steps, memory.slots = s.Steps, nil
		for _, m := range slots {
			memory.put(m.param, m.slot)
		}
		if p := k.plateau(); p != nil {
			p.state = *s.Plateau
		}
		return nil
	}, err
}

// foreign is the memory of an optimiser of another package.
type foreign struct{ StatefulOptimiser }

// foreignState is that memory as it stands in a checkpoint, beside the arrays.
type foreignState struct {
	Numbers map[string]jsonFloat `json:"numbers,omitempty"`
	Arrays  map[string][]string  `json:"arrays,omitempty"` // the names of a Param's arrays, by its path
}

func (o foreign) name() string    { return fmt.Sprintf("%T", o.StatefulOptimiser) }
func (foreign) plateau() *Plateau { return nil }

func (o foreign) save(c *Checkpoint, s *runState) ([]weights.Place, error) {
	state := o.State()
	s.Optimiser, s.Steps, s.Own = o.name(), state.Steps, &foreignState{}
	if len(state.Numbers) > 0 {
		s.Own.Numbers = map[string]jsonFloat{}
	}
	for name, v := range state.Numbers {
		s.Own.Numbers[name] = jsonFloat(v)
	}
	for path, arrays := range state.Arrays {
		if s.Own.Arrays == nil {
			s.Own.Arrays = map[string][]string{}
		}
		s.Own.Arrays[path] = slices.Sorted(maps.Keys(arrays))
	}
	places, err := o.places(c.Model, s.Own)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		path, name, _ := strings.Cut(strings.TrimPrefix(p.Name, "opt/"), "/")
		data := state.Arrays[path][name]
		if n := tensor.Size(p.Shape...); len(data) != n {
			return nil, fmt.Errorf("the %s's array %q of %s has %d elements, the Param %d", o.name(), name, path, len(data), n)
		}
		places[i].Data = data
	}
	return places, nil
}

// places returns the places of a state's arrays, without these.
func (o foreign) places(model any, s *foreignState) ([]weights.Place, error) {
	var out []weights.Place
	known := map[string]bool{}
	for path, p := range grad.Params(model) {
		known[path] = true
		for _, name := range s.Arrays[path] {
			if name == "" || strings.Contains(name, "/") {
				return nil, fmt.Errorf("the %s calls an array of %s %q; a name has a letter at least, and no slash", o.name(), path, name)
			}
			out = append(out, weights.Place{Name: "opt/" + path + "/" + name, Shape: p.Value.Shape(), Data: nil})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.Arrays)) {
		if !known[path] {
			return nil, fmt.Errorf("the %s has arrays of a Param %q that the model has not", o.name(), path)
		}
	}
	return out, nil
}

func (o foreign) load(c *Checkpoint, s *runState) ([]weights.Place, func() error, error) {
	if s.Own == nil {
		return nil, nil, errors.New("the file has no state of an optimiser of another package")
	}
	places, err := o.places(c.Model, s.Own)
	return places, func() error {
		state := OptimiserState{Steps: s.Steps, Numbers: map[string]float64{}, Arrays: map[string]map[string][]tensor.Float{}}
		for name, v := range s.Own.Numbers {
			state.Numbers[name] = float64(v)
		}
		for _, p := range places {
			path, name, _ := strings.Cut(strings.TrimPrefix(p.Name, "opt/"), "/")
			if state.Arrays[path] == nil {
				state.Arrays[path] = map[string][]tensor.Float{}
			}
			state.Arrays[path][name] = p.Data
		}
		return o.SetState(state)
	}, err
}
