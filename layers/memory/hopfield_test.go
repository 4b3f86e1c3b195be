package memory_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// signs returns n random rows of +1 and −1.
func signs(seed uint64, n, units int) *tensor.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := tensor.New(n, units)
	for i := range x.Data {
		x.Data[i] = tensor.Float(2*rng.IntN(2) - 1)
	}
	return x
}

// flipped returns x with so many units of each row turned over.
func flipped(seed uint64, x *tensor.Dense, n int) *tensor.Dense {
	rng := rand.New(rand.NewPCG(seed, 2))
	y := x.Clone()
	for k := range y.Rows() {
		for _, i := range rng.Perm(y.RowLen())[:n] {
			y.Row(k)[i] *= -1
		}
	}
	return y
}

func stored(t *testing.T, r memory.Rule, x *tensor.Dense) *memory.Hopfield {
	t.Helper()
	h, err := memory.Store(r, x)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func recalled(t *testing.T, h *memory.Hopfield, cues *tensor.Dense, r memory.Recall) *memory.Recalled {
	t.Helper()
	out, err := h.Recall(cues, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exact returns the share of rows that are alike.
func exact(x, y *tensor.Dense) float64 {
	n := 0.0
	for _, w := range memory.Wrong(x, y) {
		if w == 0 {
			n++
		}
	}
	return n / float64(x.Rows())
}

// Each rule against its sum, a loop for each weight.
func TestRulesAreTheirFormulas(t *testing.T) {
	x := signs(1, 3, 7)
	m, at := 7, func(n, i int) float64 { return float64(x.Row(n)[i]) }
	var want [7][7]float64
	compare := func(r memory.Rule) {
		t.Helper()
		h := stored(t, r, x)
		for i := range m {
			for j := range m {
				got := float64(h.W.Value.Row(i)[j])
				if i == j && got != 0 || i != j && math.Abs(got-want[i][j]) > 1e-5 || got != float64(h.W.Value.Row(j)[i]) {
					t.Errorf("%v: W[%d,%d] is %v, want %v", r, i, j, got, want[i][j])
				}
			}
		}
	}
	for i := range m {
		for j := range m {
			for n := range 3 {
				want[i][j] += at(n, i) * at(n, j) / float64(m)
			}
		}
	}
	compare(memory.Hebb)
	want = [7][7]float64{}
	for n := range 3 {
		last := want
		for i := range m {
			for j := range m {
				h := func(i, j int) (s float64) {
					for k := range m {
						if k != i && k != j {
							s += last[i][k] * at(n, k)
						}
					}
					return s
				}
				if i != j {
					want[i][j] += (at(n, i)*at(n, j) - at(n, i)*h(j, i) - h(i, j)*at(n, j)) / float64(m)
				}
			}
		}
	}
	compare(memory.Storkey)
}

// With its diagonal, the pseudo-inverse's matrix maps each pattern onto itself; without it a
// pattern is its own field times 1 − W_ii. Patterns that depend on each other do no harm.
func TestPseudoInverseIsAProjection(t *testing.T) {
	x := signs(2, 4, 12)
	again := tensor.New(6, 12)
	copy(again.Data, x.Data)
	copy(again.Row(4), x.Row(0))
	for i, v := range x.Row(1) {
		again.Row(5)[i] = -v
	}
	a, b := stored(t, memory.PseudoInverse, x), stored(t, memory.PseudoInverse, again)
	trace := 0.0
	for k := range 4 {
		f, err := a.Fields(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range f.Row(k) {
			own := float64(x.Row(k)[i]) - float64(v) // W_ii·x_i
			if k == 0 {
				trace += own * float64(x.Row(0)[i])
			}
		}
	}
	if math.Abs(trace-4) > 1e-4 {
		t.Errorf("the trace of the projection is %v, want the rank, 4", trace)
	}
	compare.Near(t, "weights without and with a pattern twice and one turned over", b.W.Value.Data, a.W.Value.Data, compare.Off(1e-5, 0))
}

// The energy never rises when one unit changes, whatever the symmetric weights.
func TestEnergyNeverRises(t *testing.T) {
	const units = 20
	updates := 0
	for seed := uint64(0); updates < 100_000; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		h := memory.NewHopfield(units)
		h.B = grad.NewParam(units)
		h.B.Value.Normal(rng, 0, 1)
		for i := range units {
			for j := range i {
				w := tensor.Float(rng.NormFloat64())
				h.W.Value.Row(i)[j], h.W.Value.Row(j)[i] = w, w
			}
		}
		got := recalled(t, h, signs(seed, 40, units), memory.Recall{Random: true, Seed: seed, Trace: true})
		for k, trace := range got.Energy {
			if !got.Rests[k] {
				t.Fatalf("seed %d: state %d does not rest", seed, k)
			}
			if e, err := h.Energy(tensor.Of(got.States.Row(k), 1, units)); err != nil || math.Abs(e[0]-trace[len(trace)-1]) > 1e-3 {
				t.Fatalf("seed %d: the energy of state %d is %v at the end, and was followed to %v", seed, k, e, trace[len(trace)-1])
			}
			for i := 1; i < len(trace); i++ {
				if trace[i] > trace[i-1]+1e-4 {
					t.Fatalf("seed %d: the energy of state %d rises from %v to %v", seed, k, trace[i-1], trace[i])
				}
			}
			updates += units * (got.Sweeps[k] + 1)
		}
	}
}

func TestSynchronousCycle(t *testing.T) {
	h := memory.NewHopfield(2)
	copy(h.W.Value.Data, []tensor.Float{0, -1, -1, 0})
	cues := tensor.Of([]tensor.Float{1, 1, 1, -1}, 2, 2)
	got := recalled(t, h, cues, memory.Recall{Sync: true})
	if !slices.Equal(got.Cycles, []bool{true, false}) || !slices.Equal(got.Rests, []bool{false, true}) {
		t.Errorf("cycles %v, rests %v", got.Cycles, got.Rests)
	}
	if e, _ := h.Energy(cues); e[0] != 1 || e[1] != -1 {
		t.Errorf("energies %v, want 1 and −1", e)
	}
	if got = recalled(t, h, cues, memory.Recall{}); !got.Rests[0] || !got.Rests[1] {
		t.Errorf("unit by unit it does not rest: %v", got.Rests)
	}
}

// What theory says of few patterns: each and its negative is a fixed point, one pattern comes
// back from fewer than half of its units, and so does a unit that hears nothing from +1.
func TestFewPatterns(t *testing.T) {
	x := signs(4, 2, 64)
	h := stored(t, memory.Hebb, x)
	minus := x.Clone()
	for i := range minus.Data {
		minus.Data[i] *= -1
	}
	for _, r := range []memory.Recall{{}, {Sync: true}, {Random: true, Seed: 5}} {
		if got := recalled(t, h, x, r); exact(got.States, x) != 1 || got.Sweeps[0] != 0 {
			t.Errorf("%+v: a pattern is no fixed point", r)
		}
		if got := recalled(t, h, minus, r); exact(got.States, minus) != 1 {
			t.Errorf("%+v: the negative of a pattern is no fixed point", r)
		}
	}
	one := signs(6, 1, 64)
	h = stored(t, memory.Hebb, one)
	for _, n := range []int{1, 20, 31} {
		if got := recalled(t, h, flipped(7, one, n), memory.Recall{}); exact(got.States, one) != 1 {
			t.Errorf("one pattern does not come back with %d of 64 units turned over", n)
		}
	}
	none := memory.NewHopfield(3)
	if got := recalled(t, none, signs(8, 1, 3), memory.Recall{Sync: true}); slices.Min(got.States.Data) != 1 {
		t.Errorf("without weights the units are %v, want +1", got.States.Data)
	}
}

// The share of wrong units has its knee near 0.14 patterns a unit; the pseudo-inverse and
// Storkey's rule hold more. Figures of models that others have measured.
func TestCapacity(t *testing.T) {
	const units = 200
	wrong := func(r memory.Rule, load float64, turned int) (bits, whole float64) {
		x := signs(11, int(load*units), units)
		got := recalled(t, stored(t, r, x), flipped(12, x, turned), memory.Recall{})
		for _, w := range memory.Wrong(got.States, x) {
			bits += w / float64(x.Rows())
		}
		return bits, exact(got.States, x)
	}
	low, _ := wrong(memory.Hebb, 0.05, 0)
	knee, _ := wrong(memory.Hebb, 0.14, 0)
	over, _ := wrong(memory.Hebb, 0.25, 0)
	if low > 0.001 || knee > 0.06 || over < 0.12 {
		t.Errorf("shares of wrong units at 0.05, 0.14 and 0.25 patterns a unit: %.4f, %.4f, %.4f", low, knee, over)
	}
	if _, whole := wrong(memory.PseudoInverse, 0.4, units/20); whole < 0.95 {
		t.Errorf("the pseudo-inverse recalls %.2f of the patterns at 0.4 a unit", whole)
	}
	if _, whole := wrong(memory.Storkey, 0.25, units/20); whole < 0.9 {
		t.Errorf("Storkey's rule recalls %.2f of the patterns at 0.25 a unit", whole)
	}
}

// The knee of Hebb's rule, each pattern asked for itself: what a program in NumPy had with 500
// units, and with 1,000, one unit in a hundred wrong at 0.138 patterns a unit, to within 0.01.
func TestKnee(t *testing.T) {
	wrong := func(units, patterns int) (share float64) {
		x := signs(13, patterns, units)
		for _, w := range memory.Wrong(recalled(t, stored(t, memory.Hebb, x), x, memory.Recall{}).States, x) {
			share += w / float64(patterns)
		}
		return share
	}
	type knee struct {
		units, patterns int
		least, most     float64
	}
	for _, c := range sparing.Some([]knee{{500, 25, 0, 0}, {1000, 128, 0, 0.01}, {500, 69, 0.005, 0.04}, {1000, 148, 0.01, 0.5}, {500, 100, 0.15, 0.5}, {500, 50, 0, 0.005}}) {
		if c.units > 500 && !sparing.Full() {
			continue // eight times the work
		}
		if got := wrong(c.units, c.patterns); got < c.least || got > c.most {
			t.Errorf("%d patterns of %d units: %.4f of the units are wrong, want %v to %v", c.patterns, c.units, got, c.least, c.most)
		}
	}
}

// A state that nobody stored: what most of three patterns say is at rest, too, at a higher energy
// than theirs; so is its negative. Of two patterns there is no majority.
func TestMixtures(t *testing.T) {
	x := signs(14, 3, 300)
	h := stored(t, memory.Hebb, x)
	both := tensor.New(2, 300)
	for i := range both.Row(0) {
		v := x.Row(0)[i] + x.Row(1)[i] + x.Row(2)[i]
		both.Row(0)[i], both.Row(1)[i] = v/max(v, -v), -v/max(v, -v)
	}
	for _, r := range []memory.Recall{{}, {Sync: true}} {
		if got := recalled(t, h, both, r); exact(got.States, both) != 1 || !got.Rests[0] || !got.Rests[1] {
			t.Errorf("%+v: the majority of three patterns is not at rest", r)
		}
	}
	mixed, _ := h.Energy(both)
	own, _ := h.Energy(x)
	if low := slices.Max(own); mixed[0] <= low || mixed[0] != mixed[1] {
		t.Errorf("the mixture has the energy %v, its negative %v, and patterns at most %v", mixed[0], mixed[1], low)
	}
}

// Theory to the letter: of patterns that do not depend on each other the pseudo-inverse has every one
// at rest, up to one less than the units; pairs whose patterns are orthogonal answer in one step.
func TestExactRecall(t *testing.T) {
	x := signs(15, 39, 40)
	if got := recalled(t, stored(t, memory.PseudoInverse, x), x, memory.Recall{}); exact(got.States, x) != 1 || slices.Max(got.Sweeps) != 0 {
		t.Errorf("of 39 patterns of 40 units %.2f are at rest", exact(got.States, x))
	}
	walsh := tensor.New(16, 16) // rows that are orthogonal
	for i := range 16 {
		for j := range 16 {
			walsh.Row(i)[j] = tensor.Float(1 - 2*(bits.OnesCount(uint(i&j))%2))
		}
	}
	y := signs(16, 16, 9)
	m, err := memory.Pair(walsh, y)
	if err != nil {
		t.Fatal(err)
	}
	fields := tensor.New(16, 9)
	tensor.MatMul(fields, walsh, m.W.Value, tensor.TransB)
	for i, v := range fields.Data {
		if v != 16*y.Data[i] {
			t.Fatalf("unit %d of answer %d hears %v, want %v", i%9, i/9, v, 16*y.Data[i])
		}
	}
	few, err := memory.Pair(tensor.Of(walsh.Data[:4*16], 4, 16), tensor.Of(walsh.Data[4*16:8*16], 4, 16))
	if err != nil {
		t.Fatal(err)
	}
	want := tensor.Of(walsh.Data[:4*16], 4, 16)
	gotX, gotY, err := few.Recall(flipped(17, want, 1))
	if err != nil || exact(gotX, want) != 1 || exact(gotY, tensor.Of(walsh.Data[4*16:8*16], 4, 16)) != 1 {
		t.Errorf("of four orthogonal pairs %.2f and %.2f come back with a unit turned over: %v", exact(gotX, want), exact(gotY, tensor.Of(walsh.Data[4*16:8*16], 4, 16)), err)
	}
}

// No bit of a recall depends on the threads, or on the other cues.
func TestRecallThreads(t *testing.T) {
	x := signs(21, 8, 70)
	h := stored(t, memory.Hebb, x)
	cues := flipped(22, x, 20)
	for _, r := range []memory.Recall{{}, {Random: true, Seed: 3, Trace: true}, {Sync: true, Trace: true}} {
		want := recalled(t, h, cues, r)
		undo := par.SetThreads(3)
		got := recalled(t, h, cues, r)
		undo()
		if !slices.Equal(got.States.Data, want.States.Data) || !slices.Equal(got.Sweeps, want.Sweeps) {
			t.Errorf("%+v: other states on three threads", r)
		}
		if r.Trace && !slices.EqualFunc(got.Energy, want.Energy, slices.Equal) {
			t.Errorf("%+v: other energies on three threads", r)
		}
		first := recalled(t, h, tensor.Of(cues.Row(0), 1, 70), r)
		if !slices.Equal(first.States.Data, want.States.Row(0)) {
			t.Errorf("%+v: another state alone", r)
		}
	}
}

// Of 100 units and 60, 5 pairs come back whole from cues with a tenth turned over, and of 8
// nearly all answers; the energy never rises.
func TestBAM(t *testing.T) {
	answers := 0.0
	for seed := range uint64(20) {
		for _, n := range []int{5, 8} {
			x, y := signs(31+seed, n, 100), signs(131+seed, n, 60)
			m, err := memory.Pair(x, y)
			if err != nil {
				t.Fatal(err)
			}
			cues := flipped(seed, x, 10)
			gotX, gotY, err := m.Recall(cues)
			if err != nil || n == 5 && (exact(gotX, x) != 1 || exact(gotY, y) != 1) {
				t.Errorf("seed %d: of %d pairs %.2f and %.2f come back, error %v", seed, n, exact(gotX, x), exact(gotY, y), err)
			}
			if n == 8 {
				answers += exact(gotY, y) / 20
			}
			before, _ := m.Energy(cues, gotY)
			after, _ := m.Energy(gotX, gotY)
			for k := range after {
				if after[k] > before[k] {
					t.Errorf("seed %d: the energy of pair %d rises from %v to %v", seed, k, before[k], after[k])
				}
			}
		}
	}
	if answers < 0.97 {
		t.Errorf("of 8 pairs %.3f of the answers come back", answers)
	}
}

// Pairs of patterns that are alike: with the pseudo-inverse every pattern calls up its answer, and the answer it,
// where the sum of the pairs mixes them.
func TestPairsThatAreAlike(t *testing.T) {
	x, y := signs(51, 1, 80), signs(52, 1, 50)
	many := func(one *tensor.Dense, seed uint64) *tensor.Dense { // nine units in ten are those of one
		all := tensor.New(8, one.RowLen())
		for k := range 8 {
			copy(all.Row(k), one.Data)
		}
		return flipped(seed, all, one.RowLen()/10)
	}
	x, y = many(x, 53), many(y, 54)
	sum, err := memory.Pair(x, y)
	if err != nil {
		t.Fatal(err)
	}
	m, err := memory.PairPseudoInverse(x, y)
	if err != nil {
		t.Fatal(err)
	}
	fields := tensor.New(8, 50)
	tensor.MatMul(fields, x, m.W.Value, tensor.TransB)
	back := tensor.New(8, 80)
	tensor.MatMul(back, y, m.Back.Value, tensor.TransB)
	compare.Near(t, "what patterns call up", fields.Data, y.Data, compare.Off(1e-4, 0))
	compare.Near(t, "what answers call up", back.Data, x.Data, compare.Off(1e-4, 0))
	gotX, gotY, err := m.Recall(x)
	if err != nil || exact(gotX, x) != 1 || exact(gotY, y) != 1 {
		t.Errorf("%.2f of the patterns and %.2f of the answers are at rest: %v", exact(gotX, x), exact(gotY, y), err)
	}
	if _, mixed, err := sum.Recall(x); err != nil || exact(mixed, y) > 0.5 {
		t.Errorf("the sum calls up %.2f of them: %v", exact(mixed, y), err)
	}
}

func TestHopfieldRefuses(t *testing.T) {
	good := signs(1, 2, 4)
	h := stored(t, memory.Hebb, good)
	m, _ := memory.Pair(good, signs(2, 2, 3))
	of := func(v ...tensor.Float) *tensor.Dense { return tensor.Of(v, 1, len(v)) }
	for want, f := range map[string]func() error{
		"there is no pattern":              func() error { _, err := memory.Store(memory.Hebb, tensor.New(0, 4)); return err },
		"unit 0 of pattern 0 is 0;":        func() error { _, err := memory.Store(memory.PseudoInverse, tensor.New(1, 4)); return err },
		"memory.Pair: there is no pattern": func() error { _, err := memory.Pair(tensor.New(0, 4), good); return err },
		"unit 0 of answer 0 is 0;":         func() error { _, err := memory.Pair(good, tensor.New(2, 3)); return err },
		"unit 1 of pattern 0 is 0.5":       func() error { _, err := memory.Store(memory.Hebb, of(1, 0.5)); return err },
		"unit 3 of state 0 is NaN":         func() error { _, err := h.Energy(of(1, 1, 1, tensor.Float(math.NaN()))); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for want, f := range map[string]func(){
		"there is no rule Rule(9)":                func() { _, _ = memory.Store(9, good) },
		"a state has 3 units":                     func() { _, _ = h.Recall(of(1, 1, 1), memory.Recall{}) },
		"make it with NewHopfield or Store":       func() { _, _ = (&memory.Hopfield{Units: 4}).Fields(good) },
		"2 patterns have 1 answers":               func() { _, _ = memory.Pair(good, of(1)) },
		"a cue has 3 units, and the network has":  func() { _, _, _ = m.Recall(of(1, 1, 1)) },
		"memory.NewHopfield: 0 units; there must": func() { memory.NewHopfield(0) },
		"make it with Pair":                       func() { _, _, _ = (&memory.BAM{From: 4, To: 3}).Recall(good) },
		"the array of each pattern is nil":        func() { _, _ = memory.Store(memory.Hebb, nil) },
	} {
		if got := panicOf(f); !strings.Contains(got, want) {
			t.Errorf("the panic is %q, want %q", got, want)
		}
	}
}

// Hebb's sum may be divided by the units or by the patterns: without thresholds the signs cannot
// tell, not even those of nought. With them they can.
func TestHebbsDivisor(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 6, 7} { // of some the fields are often nought
		x := signs(41, n, 60)
		byUnits, byPatterns := stored(t, memory.Hebb, x), stored(t, memory.HebbMean, x)
		for i, w := range byPatterns.W.Value.Data {
			if want := float64(byUnits.W.Value.Data[i]) * 60 / float64(n); math.Abs(float64(w)-want) > 1e-5 {
				t.Fatalf("%d patterns: weight %d is %v, want %v", n, i, w, want)
			}
		}
		for _, r := range []memory.Recall{{}, {Sync: true}} {
			cues := signs(42, 30, 60)
			if a, b := recalled(t, byUnits, cues, r), recalled(t, byPatterns, cues, r); exact(a.States, b.States) != 1 {
				t.Errorf("%d patterns: without thresholds the divisor makes a difference", n)
			}
		}
	}
	x := signs(41, 3, 60)
	byUnits, byPatterns := stored(t, memory.Hebb, x), stored(t, memory.HebbMean, x)
	for _, h := range []*memory.Hopfield{byUnits, byPatterns} {
		h.B = grad.NewParam(60)
		h.B.Value.Fill(2) // a field by units is at most 1 for each pattern
	}
	all := slices.Repeat([]tensor.Float{1}, 60)
	if got := recalled(t, byUnits, x, memory.Recall{}); !slices.Equal(got.States.Row(0), all) {
		t.Errorf("thresholds of −2 leave %v", got.States.Row(0))
	}
	if got := recalled(t, byPatterns, x, memory.Recall{}); exact(got.States, x) != 1 {
		t.Error("divided by the patterns, weights are not above the thresholds")
	}
}
