package train

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// runState is what a checkpoint says of a run beside arrays.
type runState struct {
	Optimiser string               `json:"optimiser"`
	Steps     int                  `json:"steps"`
	Params    map[string]slotState `json:"params"`
	Own       *foreignState        `json:"own,omitempty"` // of an optimiser of another package
	Plateau   *plateau             `json:"plateau,omitempty"`
	Seed      *uint64              `json:"seed,omitempty"` // of the tape
	Step      uint64               `json:"step,omitempty"` // of the tape
	RNG       []byte               `json:"rng,omitempty"`
	Averaged  *int                 `json:"averaged,omitempty"` // updates of the average
	History   *record              `json:"history,omitempty"`
	Begun     *begunState          `json:"begun,omitempty"` // the epoch under way
}

// slotState is what an optimiser remembers of a Param beside arrays.
type slotState struct {
	Steps  int       `json:"steps"`
	Number jsonFloat `json:"number,omitempty"`
}

// begunState is an epoch that was interrupted: how many steps were made, and what they have
// added to it.
type begunState struct {
	Steps   int       `json:"steps"`
	Loss    jsonFloat `json:"loss"` // their sum
	Rate    jsonFloat `json:"rate"`
	Norm    jsonFloat `json:"norm"`
	MaxNorm jsonFloat `json:"max_norm"`
}

func (b *begunState) begun() begun {
	return begun{b.Steps, Epoch{Loss: float64(b.Loss), Rate: float64(b.Rate), Norm: float64(b.Norm), MaxNorm: float64(b.MaxNorm)}}
}

// sound reports numbers that no run leads to.
func (s *runState) sound() error {
	bad := func(what string, v any) error { return fmt.Errorf("the metadata %q: %s is %v", runKey, what, v) }
	if s.Steps < 0 {
		return bad("the number of steps", s.Steps)
	}
	for name, p := range s.Params {
		if p.Steps < 1 || p.Steps > s.Steps {
			return bad("the number of steps of "+name, p.Steps)
		}
		if v := float64(p.Number); !finite(v) {
			return bad("the number of "+name, v)
		}
	}
	if s.Begun != nil && s.Begun.Steps < 1 {
		return bad("the number of steps of the epoch that has begun", s.Begun.Steps)
	}
	if s.Averaged != nil && *s.Averaged < 0 {
		return bad("the number of averaged steps", *s.Averaged)
	}
	if p := s.Plateau; p != nil && p.Begun && !(p.Factor >= 0 && finite(float64(p.Factor))) {
		return bad("the factor of the Plateau", float64(p.Factor))
	}
	if h := s.History; h != nil {
		if n := len(h.Norms); n != 0 && n != len(h.Epochs) {
			return bad("the number of norms", n)
		}
		for _, n := range h.Best {
			if n < 1 || n > len(h.Epochs) {
				return bad("a best epoch", n)
			}
		}
	}
	return nil
}

func (s *runState) epochs() []Epoch { return s.History.epochs() }

// state collects what is to be saved, but of the optimiser.
func (c *Checkpoint) state() (*runState, error) {
	if c.Average != nil && c.Average.swapped {
		return nil, errors.New("the model holds the average; call EMA.Swap first")
	}
	s := &runState{Params: map[string]slotState{}}
	if c.Tape != nil {
		seed := c.Tape.Seed()
		s.Seed, s.Step = &seed, c.Tape.Step()
	}
	if c.Average != nil {
		s.Averaged = &c.Average.updates
	}
	if c.History != nil {
		s.History = c.History.record()
	}
	if b := c.begun; b.steps > 0 {
		e := b.epoch
		s.Begun = &begunState{b.steps, jsonFloat(e.Loss), jsonFloat(e.Rate), jsonFloat(e.Norm), jsonFloat(e.MaxNorm)}
	}
	if c.RNG == nil {
		return s, nil
	}
	var err error
	if s.RNG, err = c.RNG.MarshalBinary(); err != nil {
		return nil, fmt.Errorf("the random source: %w", err)
	}
	return s, nil
}

// fits reports what the file has and c has not, or the reverse.
func (s *runState) fits(c *Checkpoint, opt memory) error {
	if s.Optimiser != opt.name() {
		return fmt.Errorf("the run's optimiser is %s in the file and %s in the program", s.Optimiser, opt.name())
	}
	for _, part := range []struct {
		name        string
		file, given bool
	}{
		{"a tape", s.Seed != nil, c.Tape != nil},
		{"a moving average", s.Averaged != nil, c.Average != nil},
		{"a random source", s.RNG != nil, c.RNG != nil},
		{"a Plateau", s.Plateau != nil, opt.plateau() != nil},
	} {
		switch {
		case part.file && !part.given:
			return fmt.Errorf("the file holds the state of %s, and the program has none", part.name)
		case !part.file && part.given:
			return fmt.Errorf("the program has %s, and the file holds no state of one", part.name)
		}
	}
	return nil
}

// apply gives c the file's state, but the arrays; take gives the optimiser its own.
// Where it fails nothing is changed.
func (s *runState) apply(c *Checkpoint, take func() error) error {
	back := func() error { return nil }
	if c.RNG != nil {
		before, err := c.RNG.MarshalBinary()
		if err == nil {
			err = c.RNG.UnmarshalBinary(s.RNG)
		}
		if err != nil {
			return fmt.Errorf("the random source: %w", err)
		}
		back = func() error { return c.RNG.UnmarshalBinary(before) }
	}
	if err := take(); err != nil {
		return errors.Join(err, back())
	}
	if c.Tape != nil {
		c.Tape.Restart(*s.Seed)
		c.Tape.SetStep(s.Step)
	}
	if c.Average != nil {
		c.Average.updates, c.Average.swapped = *s.Averaged, false
	}
	if c.History != nil {
		c.History.Epochs = s.epochs()
	}
	return nil
}

// jsonFloat is a float64 in JSON, which has no NaN and no infinities: those are
// strings. It comes back to the bit.
type jsonFloat float64

func (n jsonFloat) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if finite(v) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return fmt.Appendf(nil, `"%v"`, v), nil
}

func (n *jsonFloat) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		text, err := jsonread.Text(b)
		if err != nil {
			return err
		}
		switch text {
		case "NaN":
			*n = jsonFloat(math.NaN())
		case "+Inf":
			*n = jsonFloat(math.Inf(1))
		case "-Inf":
			*n = jsonFloat(math.Inf(-1))
		default:
			return fmt.Errorf("%q is not a number", text)
		}
		return nil
	}
	if string(b) == "null" { // which by itself would leave 0
		return errors.New("null is not a number")
	}
	return jsonread.Unmarshal(b, (*float64)(n))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
