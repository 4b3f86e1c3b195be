package memory

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Recall says how a network comes to rest from its cues.
type Recall struct {
	// Sync has all units change at once. It is a product of matrices for all states, but the
	// energy may rise, and a state may change for ever between two. Without it one unit
	// changes at a time.
	Sync   bool
	Most   int    // sweeps over all units at most; 0: 100
	Random bool   // the units of a sweep come in an order that is drawn from Seed, anew each time
	Seed   uint64 // and the state's number
	Trace  bool   // keep the energies on the way
}

// Recalled is what cues came to, each in its place.
type Recalled struct {
	States *tensor.Dense
	Rests  []bool // nothing changes any more
	Cycles []bool // a state that comes again after two synchronous updates
	Sweeps []int  // that changed something

	// Energy, with Recall.Trace, is that of the cue and then after each change: of a unit
	// that turns over, or of all at once.
	Energy [][]float64
}

// Recall updates each cue, a row of +1 and −1, until it rests.
func (h *Hopfield) Recall(cues *tensor.Dense, r Recall) (*Recalled, error) {
	if err := h.check("Recall", cues); err != nil {
		return nil, err
	}
	if r.Most == 0 {
		r.Most = 100
	}
	n := cues.Rows()
	out := &Recalled{Rests: make([]bool, n), Cycles: make([]bool, n), Sweeps: make([]int, n)}
	if r.Trace {
		out.Energy = make([][]float64, n)
	}
	exact := h.newWholes()
	if r.Sync {
		h.together(out, cues, r, exact)
		return out, nil
	}
	out.States = cues.Clone()
	par.For(n, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			h.alone(out, k, r, exact)
		}
	})
	return out, nil
}

// alone updates state k unit by unit.
func (h *Hopfield) alone(out *Recalled, k int, r Recall, exact *wholes) {
	s, order := out.States.Row(k), make([]int, h.Units)
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(r.Seed, uint64(k)))
	e := h.energyOf(s, exact)
	trace := func() {
		if r.Trace {
			out.Energy[k] = append(out.Energy[k], e)
		}
	}
	trace()
	for range r.Most {
		if r.Random {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		changed := false
		for _, i := range order {
			x := h.heard(i, s, exact)
			if to := sign(x); to != s[i] {
				e -= float64(to-s[i]) * float64(x)
				s[i], changed = to, true
				trace()
			}
		}
		if !changed {
			out.Rests[k] = true
			return
		}
		out.Sweeps[k]++
	}
}

// energyOf is E of one state.
func (h *Hopfield) energyOf(s []tensor.Float, exact *wholes) float64 {
	e := 0.0
	for i, v := range s {
		e -= float64(v) * (float64(h.heard(i, s, exact)) + h.bias(i)) / 2
	}
	return e
}

// sweepRoom is the memory of synchronous updates: states as columns, and their fields. New
// memory at each call would cost a fifth of its time.
type sweepRoom struct {
	tape              *grad.Tape
	before, now, next *tensor.Dense
}

var sweepRooms = sync.Pool{New: func() any { return &sweepRoom{tape: grad.NewEval()} }}

// fit makes room for so many states of so many units.
func (m *sweepRoom) fit(units, states int) {
	if m.now == nil || m.now.Rows() != units || m.now.RowLen() != states {
		m.before, m.now, m.next = tensor.New(units, states), tensor.New(units, states), tensor.New(units, states)
	}
}

// together updates all cues at once, as columns. A state that rests or cycles stays as
// it is.
func (h *Hopfield) together(out *Recalled, cues *tensor.Dense, r Recall, exact *wholes) {
	room := sweepRooms.Get().(*sweepRoom)
	defer sweepRooms.Put(room)
	n := len(out.Rests)
	room.fit(h.Units, n)
	before, now, next := room.before, room.now, room.next
	tensor.Transpose(now, cues)
	copy(before.Data, now.Data)
	over := func(k int) bool { return out.Rests[k] || out.Cycles[k] }
	left := n // states that are not over
	for step := 0; ; step++ {
		if r.Trace {
			states := transposed(now)
			for k := range n {
				if !over(k) {
					out.Energy[k] = append(out.Energy[k], h.energyOf(states.Row(k), exact))
				}
			}
		}
		if step == r.Most || left == 0 {
			break
		}
		room.tape.Reset()
		copy(next.Data, h.fields(room.tape, now, exact).Data)
		rests, returns := compared(next, now, before)
		for k := range n {
			switch {
			case over(k):
				keepColumn(next, now, k)
			case rests[k]:
				out.Rests[k] = true
				left--
			case step > 0 && returns[k]:
				out.Cycles[k] = true
				out.Sweeps[k]++
				left--
			default:
				out.Sweeps[k]++
			}
		}
		before, now, next = now, next, before
	}
	out.States = transposed(now)
}

// compared makes fields states, and says which of its columns are those of now, and which
// those of before.
func compared(fields, now, before *tensor.Dense) (rests, returns []bool) {
	n := fields.RowLen()
	rests, returns = slices.Repeat([]bool{true}, n), slices.Repeat([]bool{true}, n)
	var lock sync.Mutex
	par.For(fields.Rows(), 1+1<<15/(n+1), func(lo, hi int) {
		turned, back := make([]bool, n), make([]bool, n) // from now, and from before
		for i := lo; i < hi; i++ {
			f, a, b := fields.Row(i), now.Row(i), before.Row(i)
			for k, x := range f {
				f[k] = sign(x)
				turned[k] = turned[k] || f[k] != a[k]
				back[k] = back[k] || f[k] != b[k]
			}
		}
		lock.Lock()
		defer lock.Unlock()
		for k := range n {
			rests[k] = rests[k] && !turned[k]
			returns[k] = returns[k] && !back[k]
		}
	})
	return rests, returns
}

// keepColumn sets column k of x to that of y.
func keepColumn(x, y *tensor.Dense, k int) {
	for i := range x.Rows() {
		x.Row(i)[k] = y.Row(i)[k]
	}
}
