package bits

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// book holds the hashes by name.
type book struct {
	t      *testing.T
	prefix string
	hashes map[string]string
	spared map[string]string // entries that are not computed, and their hashes; see spare
	tape   *grad.Tape        // of every entry, so that memory is what another left

	visit func(name string, f func(m *maker) []*grad.Var) // instead of computing hashes
}

// turn reports whether a case has its turn, that of number at[0] of one list, at[1] of the next
// and so on: one case in n has. In the cases of lists of n items, each item meets each item of
// every other list, but not all of all lists meet: a path of the kernels is chosen by one of
// them or by two.
func turn(n int, at ...int) bool {
	sum := 0
	for _, i := range at {
		sum += i
	}
	return sum%n == 0
}

// add sets an entry to the hash of what f writes.
func (b *book) add(name string, f func(h *digest)) {
	if b.visit != nil {
		return
	}
	name = b.prefix + "/" + name
	if _, twice := b.hashes[name]; twice {
		b.t.Fatalf("two entries are called %s", name)
	}
	if recorded, ok := b.spared[name]; ok {
		b.hashes[name] = recorded
		return
	}
	h := &digest{sum: sha256.New()}
	f(h)
	b.hashes[name] = hex.EncodeToString(h.sum.Sum(nil)[:4])
}

// run sets an entry to the hash of the results of f and of the gradients of
// everything that f made, those of a sum weighted at random.
func (b *book) run(name string, f func(m *maker) []*grad.Var) {
	if b.visit != nil {
		b.visit(b.prefix+"/"+name, f)
	}
	b.add(name, func(h *digest) {
		m := b.newMaker(name)
		ys := f(m)
		var loss *grad.Var
		for _, y := range ys {
			h.dense(y.Value())
			if !y.Needs() {
				continue
			}
			z := m.normal(y.Shape()...)
			part := y.Mul(grad.Const(z)).Sum()
			if loss == nil {
				loss = part
			} else {
				loss = loss.Add(part)
			}
		}
		if loss == nil {
			return
		}
		gs := b.backward(name, m.tape, loss)
		for _, x := range m.watched {
			h.dense(gs.Of(x))
		}
		for _, p := range m.params {
			h.dense(gs.Param(p))
			h.dense(p.Value) // running statistics move
		}
	})
}

// backward is Backward, and checks that no gradient changes after BackwardEach has called it final.
func (b *book) backward(name string, t *grad.Tape, loss *grad.Var) grad.Grads {
	final := map[*grad.Param][]tensor.Float{}
	gs := t.BackwardEach(loss, func(g grad.Grad) {
		switch {
		case g.Param == nil:
		case g.Param.Frozen: // its new value
			copy(g.Param.Value.Data, g.Value.Data)
			g.Param.Changed()
		default:
			final[g.Param] = slices.Clone(g.Value.Data)
		}
	})
	for _, g := range gs {
		if g.Param != nil && !slices.EqualFunc(final[g.Param], g.Value.Data, func(x, y tensor.Float) bool { return x == y || x != x && y != y }) {
			b.t.Errorf("%s/%s: a gradient of shape %v changes after it was called final", b.prefix, name, g.Value.Shape())
		}
	}
	return gs
}

// digest is a hash being made.
type digest struct{ sum hash.Hash }

// dense adds shape and bits of an array; nil has a mark of its own.
func (h *digest) dense(d *tensor.Dense) {
	if d == nil {
		h.sum.Write([]byte("nil"))
		return
	}
	for _, n := range d.Shape() {
		h.number(uint64(n))
	}
	if len(d.Data) > 0 {
		h.sum.Write(unsafe.Slice((*byte)(unsafe.Pointer(&d.Data[0])), len(d.Data)*int(unsafe.Sizeof(d.Data[0]))))
	}
}

func (h *digest) number(n uint64) { h.sum.Write(binary.LittleEndian.AppendUint64(nil, n)) }

// maker makes what an entry reads, from random numbers of its own.
type maker struct {
	*rand.Rand
	tape    *grad.Tape
	watched []*grad.Var
	params  []*grad.Param
}

// newMaker's random numbers follow from the name, so that an entry does not
// depend on those before it.
func (b *book) newMaker(name string) *maker {
	b.tape.Restart(11)
	b.tape.Reset()
	return makerOn(b.tape, name)
}

func makerOn(t *grad.Tape, name string) *maker {
	seed := sha256.Sum256([]byte(name))
	return &maker{Rand: rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:]), 7)), tape: t}
}

// draws are normal random numbers, a prime number of them: arrays begin anywhere in
// them, since drawing each element takes longer than most of what is hashed.
var draws = sync.OnceValue(func() []tensor.Float {
	d := tensor.New(65_521)
	d.Normal(rand.New(rand.NewPCG(8, 8)), 0, 1)
	return d.Data
})

// normal is an array of random numbers.
func (m *maker) normal(shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	from := draws()
	at := m.IntN(len(from))
	for x := d.Data; len(x) > 0; at = 0 {
		x = x[copy(x, from[at:]):]
	}
	return d
}

// watch is a random input whose gradient counts.
func (m *maker) watch(shape ...int) *grad.Var {
	x := m.tape.Watch(m.normal(shape...))
	m.watched = append(m.watched, x)
	return x
}

// use is a random Param.
func (m *maker) use(shape ...int) *grad.Var {
	p := grad.NewParam(shape...)
	copy(p.Value.Data, m.normal(shape...).Data)
	m.params = append(m.params, p)
	return m.tape.Use(p)
}

// huge is a random Param so large that what it is added to loses bits.
func (m *maker) huge(shape ...int) *grad.Var {
	p := m.use(shape...)
	for i := range p.Value().Data {
		p.Value().Data[i] *= 1000
	}
	return p
}

// model initialises a model and moves every Param a little: biases begin at zero.
func (m *maker) model(l interface{ Init(*rand.Rand) }) {
	l.Init(m.Rand)
	for _, p := range grad.Params(l) {
		for i := range p.Value.Data {
			p.Value.Data[i] += tensor.Float(m.Float64() * 0.2)
		}
		m.params = append(m.params, p)
	}
}

// rows draws n numbers below limit.
func (m *maker) rows(n, limit int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(m.IntN(limit))
	}
	return out
}

// one is a list of one result.
func one(y *grad.Var) []*grad.Var { return []*grad.Var{y} }
