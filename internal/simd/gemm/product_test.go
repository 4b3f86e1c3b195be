package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// chain is one element of a product in float64, and the sum of its terms'
// magnitudes, which bounds the rounding.
func (p *Product) chain(start Float, i, j int) (sum, size float64) {
	if p.Set {
		start = 0
	}
	sum, size = float64(start), math.Abs(float64(start))
	for k := range p.K {
		v := float64(p.A[p.row(i)+k*p.CS]) * float64(p.B[k*p.LDB+j])
		sum, size = sum+v, size+math.Abs(v)
	}
	return sum, size
}

// row is where row i of A begins.
func (p *Product) row(i int) int {
	tile := p.Tile
	if tile == 0 {
		tile = ProductGroup * p.RS
	}
	return i/ProductGroup*tile + i%ProductGroup*p.RS
}

// randomProduct returns a product with gaps between the rows; trans stores A by
// columns, or in groups of rows.
func randomProduct(rng *rand.Rand, m, n, k int, trans bool) (p Product, intact func() bool) {
	next := func() Float { return Float(rng.NormFloat64()) }
	p = Product{M: m, N: n, K: k, LDB: n + rng.IntN(4), LDC: n + rng.IntN(4)}
	if p.RS, p.CS = k+rng.IntN(3), 1; trans {
		p.RS, p.CS = 1, m+rng.IntN(3)
		if rng.IntN(2) == 0 {
			p.CS, p.Tile = ProductGroup, ProductGroup*k+rng.IntN(9)
		}
	}
	p.Set = rng.IntN(3) == 0
	p.Ahead, p.AheadStep = rng.IntN(math.MaxInt)-math.MaxInt/2, rng.IntN(100) // anywhere: nothing is read
	size := func(rows, stride, width int) int { return max(0, (rows-1)*stride+width) }
	var ok [3]func() bool
	last := 0
	for i := range m {
		last = max(last, p.row(i)+(k-1)*p.CS+1)
	}
	p.A, ok[0] = simdtest.Guarded(last, rng.IntN(8), next)
	p.B, ok[1] = simdtest.Guarded(size(k, p.LDB, n), rng.IntN(8), next)
	p.C, ok[2] = simdtest.Guarded(size(m, p.LDC, n), rng.IntN(8), next)
	return p, func() bool { return ok[0]() && ok[1]() && ok[2]() }
}

func checkProduct(t *testing.T, rng *rand.Rand, m, n, k int, trans bool) {
	t.Helper()
	p, intact := randomProduct(rng, m, n, k, trans)
	was := append([]Float(nil), p.C...)
	p.MulAdd()
	if !intact() {
		t.Fatalf("%d×%d×%d: wrote outside", m, k, n)
	}
	for at, v := range p.C {
		i, j := at/p.LDC, at%p.LDC
		if j >= n {
			if v != was[at] {
				t.Fatalf("%d×%d×%d: wrote between the rows of C", m, k, n)
			}
			continue
		}
		want, size := p.chain(was[at], i, j)
		if d := math.Abs(float64(v) - want); d > size*1e-6 || v != v {
			t.Fatalf("%d×%d×%d trans %t: C[%d,%d] = %v, want %v", m, k, n, trans, i, j, v, want)
		}
	}
}

func TestProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range simdtest.Lengths() {
		checkProduct(t, rng, 1+n%15, n, 1+n%11, n%2 == 1)
	}
	for m := range 30 {
		for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 33} {
			for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 25, 40} {
				checkProduct(t, rng, m, n, k, (m+k+n)%2 == 0)
			}
		}
	}
}

// An element is one chain, so any part of a product has the bits of the whole,
// and k can be cut anywhere.
func TestProductLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		p, _ := randomProduct(rng, 1+rng.IntN(20), 1+rng.IntN(40), 1+rng.IntN(30), rng.IntN(2) == 0)
		whole := p
		whole.C = append([]Float(nil), p.C...)
		whole.MulAdd()
		i, j, k := rng.IntN(p.M), rng.IntN(p.N), rng.IntN(p.K+1)
		if p.Tile != 0 {
			i -= i % ProductGroup // else the part's groups are not ours
		}
		part := p
		part.M, part.N, part.K = 1+rng.IntN(p.M-i), 1+rng.IntN(p.N-j), k
		part.C = append([]Float(nil), p.C[i*p.LDC+j:]...)
		part.A, part.B = p.A[p.row(i):], p.B[j:]
		part.MulAdd()
		if k < p.K {
			part.Set = part.Set && k == 0
			part.A, part.B, part.K = p.A[p.row(i)+k*p.CS:], p.B[k*p.LDB+j:], p.K-k
			part.MulAdd()
		}
		for r := range part.M {
			for c := range part.N {
				if got, want := part.C[r*p.LDC+c], whole.C[(i+r)*p.LDC+j+c]; got != want {
					t.Fatalf("%d×%d×%d: [%d,%d] is %v, as a part of %d×%d split at k = %d %v", p.M, p.K, p.N, i+r, j+c, want, part.M, part.N, k, got)
				}
			}
		}
	}
}

// A product of one row has the bits of that row among others, and of fewer columns: of steps of
// k that the kernel takes together, singly, and in several calls.
func TestProductOfOneRow(t *testing.T) {
	const few = 63 // a column less than the kernel of one row takes
	rng := rand.New(rand.NewPCG(3, 3))
	for _, s := range [][2]int{{64, 1}, {65, 7}, {79, 8}, {96, 9}, {130, 17}, {200, 40}, {4099, 83}} {
		for _, trans := range []bool{false, true} {
			n, k := s[0], s[1]
			p, intact := randomProduct(rng, 2, n, k, trans)
			one, narrow := p, p
			one.M, narrow.M, narrow.N = 1, 1, few
			one.C, narrow.C = slices.Clone(p.C), slices.Clone(p.C)
			p.MulAdd()
			one.MulAdd()
			narrow.MulAdd()
			if !slices.Equal(one.C[:n], p.C[:n]) || !slices.Equal(one.C[:few], narrow.C[:few]) {
				t.Errorf("%d columns, %d steps: one row is not that of two, or of fewer columns", n, k)
			}
			if !intact() {
				t.Errorf("%d columns, %d steps: wrote outside", n, k)
			}
		}
	}
}

// A product of one column has the bits of that column among others, of any number of rows and
// steps of k, and of NaN, Inf and −0, which no lane may bring to another.
func TestProductOfOneColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	check := func(m, k int, special bool) {
		p, intact := randomProduct(rng, m, 2, k, false)
		for k == 1024 && p.RS != k {
			p, intact = randomProduct(rng, m, 2, k, false)
		}
		for i := range p.A {
			if special && rng.IntN(8) == 0 {
				p.A[i] = []Float{Float(math.Inf(1)), Float(math.NaN()), Float(math.Copysign(0, -1))}[rng.IntN(3)]
			}
		}
		one := p
		one.N, one.LDB, one.LDC = 1, 1, 1
		x := make([]Float, k)
		for l := range x {
			x[l] = p.B[l*p.LDB]
		}
		var ok, okX func() bool
		one.B, okX = simdtest.Guarded(k, rng.IntN(8), func() Float { return 0 })
		copy(one.B, x)
		one.C, ok = simdtest.Guarded(m, rng.IntN(8), func() Float { return 0 })
		for i := range m {
			one.C[i] = p.C[i*p.LDC]
		}
		p.MulAdd()
		one.MulAdd()
		for i, v := range one.C {
			if want := p.C[i*p.LDC]; v != want && (v == v || want == want) || math.Signbit(float64(v)) != math.Signbit(float64(want)) && v == v {
				t.Fatalf("%d×%d: element %d is %v alone and %v beside another", m, k, i, v, want)
			}
		}
		if !ok() || !okX() || !intact() {
			t.Fatalf("%d×%d: wrote outside", m, k)
		}
	}
	for m := 1; m < 50; m++ {
		for _, k := range []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 40} {
			check(m, k, k%2 == 0)
		}
	}
	check(900, 200, false) // more than a call does
	check(33, 1<<17, false)
	for m := 1; m < 20; m++ { // rows that share the sets of a cache
		check(m, 1024, false)
	}
}

func TestProductNaN(t *testing.T) {
	inf := Float(math.Inf(1))
	for _, n := range []int{1, 8, 9, 16, 31} {
		p := Product{A: []Float{1, inf, 0, 1}, RS: 2, CS: 1, B: make([]Float, 2*n), C: make([]Float, 2*n), LDB: n, LDC: n, M: 2, N: n, K: 2}
		p.B[n-1], p.B[2*n-1] = inf, 0 // Inf·0 in the first row, 0·Inf in the second
		p.MulAdd()
		for j := range n {
			if first, second := p.C[j], p.C[n+j]; j == n-1 && (first == first || second == second) || j < n-1 && (first == first || second != 0) {
				t.Errorf("n = %d: column %d has %v and %v", n, j, first, second)
			}
		}
	}
}

func TestProductOutside(t *testing.T) {
	for _, cut := range []func(p *Product){
		func(p *Product) { p.A = p.A[:len(p.A)-1] },
		func(p *Product) { p.B = p.B[:len(p.B)-1] },
		func(p *Product) { p.C = p.C[:len(p.C)-1] },
		func(p *Product) { p.RS = -1 },
		func(p *Product) { p.Tile = -1 },
		func(p *Product) { p.M, p.C, p.Tile = 7, make([]Float, 35), 13 },
		func(p *Product) { p.M, p.C, p.RS, p.CS, p.Tile = 7, make([]Float, 35), 2, 1, 1 }, // the first group ends last
	} {
		p := Product{A: make([]Float, 12), B: make([]Float, 20), C: make([]Float, 15), RS: 4, CS: 1, LDB: 5, LDC: 5, M: 3, N: 5, K: 4}
		cut(&p)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for slices of %d, %d, %d and a stride of %d", len(p.A), len(p.B), len(p.C), p.RS)
				}
			}()
			p.MulAdd()
		}()
	}
}

func FuzzProduct(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(9), uint8(5), true)
	f.Add(uint64(2), uint8(8), uint8(16), uint8(0), false)
	f.Fuzz(func(t *testing.T, seed uint64, m, n, k uint8, trans bool) {
		checkProduct(t, rand.New(rand.NewPCG(seed, 0)), int(m%32), int(n), int(k), trans)
	})
}

func BenchmarkProduct(b *testing.B) {
	for _, s := range [][3]int{{48, 384, 16}, {48, 384, 8}, {48, 384, 7}, {64, 64, 64}, {7, 64, 64}, {1, 256, 1024}, {1, 1024, 256}, {16, 1433, 1}, {1024, 64, 1}, {1, 1433, 1}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			m, k, n := s[0], s[1], s[2]
			p := Product{A: make([]Float, m*k), B: make([]Float, k*n), C: make([]Float, m*n), RS: k, CS: 1, LDB: n, LDC: n, M: m, N: n, K: k}
			for b.Loop() {
				p.MulAdd()
			}
			b.ReportMetric(2*float64(m*n*k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// Panels has the bits of one panel after another, whichever kernel does them.
func TestProductPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	next := func() Float { return Float(rng.NormFloat64()) }
	for trial := range 400 {
		m, n, k := 1+rng.IntN(40), 1+rng.IntN(100), 1+rng.IntN(20)
		if trial%40 == 1 {
			k = 1 << 12 // more than a call does
		}
		switch {
		case trial%50 == 0:
			m = 0
		case trial%50 == 25:
			k = 0
		}
		p := Product{RS: k + rng.IntN(3), CS: 1, LDB: ProductPanel, LDC: n + rng.IntN(5), M: m, N: n, K: k, Set: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 { // in groups
			p.RS, p.CS, p.Tile = 1, ProductGroup, GroupPitch(k)
		}
		groups := (m + ProductGroup - 1) / ProductGroup
		p.A = simdtest.Draw((groups+1)*(max(p.Tile, ProductGroup*p.RS)+p.RS+k*p.CS), next)
		pitch := k*ProductPanel + 8*rng.IntN(3)
		if trial%3 == 0 { // a matrix's own columns
			pitch, p.LDB = ProductPanel, (n+ProductPanel-1)/ProductPanel*ProductPanel+rng.IntN(9)
		}
		p.B = simdtest.Draw((n+ProductPanel-1)/ProductPanel*pitch+k*p.LDB+ProductPanel, next)
		c, intact := simdtest.Guarded(m*p.LDC, rng.IntN(16), next)
		one := append([]Float(nil), c...)
		for j := 0; j < n && m > 0; j += ProductPanel { // one at a time
			q := p
			q.B, q.C, q.N = p.B[j/ProductPanel*pitch:], one[j:], min(ProductPanel, n-j)
			q.MulAdd()
		}
		all := p
		all.C, all.Ahead, all.AheadStep = c, 64, 64
		all.Far, all.Next = trial%3 == 0, rng.IntN(1<<20)-1<<19 // nothing is read there
		all.Panels(pitch)
		if !intact() {
			t.Fatalf("%d×%d×%d: wrote beyond the result", m, k, n)
		}
		compare.Bits(t, fmt.Sprintf("%d×%d×%d, and by single panels", m, k, n), c, one)
		if len(all.B) != len(p.B) || all.N != n {
			t.Fatalf("Panels changed the Product: %d columns, not %d", all.N, n)
		}
	}
}

// So it is for every number of rows and of panels up to two tiles and two lines, with the
// kernels of AVX-512 and without. The operands are no longer than they must be.
func TestProductPanelsSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	next := func() Float { return Float(rng.NormFloat64()) }
	for m := 1; m <= 28; m++ {
		for panels := 1; panels <= 18; panels++ {
			k, n := 1+(m+5*panels)%11, panels*ProductPanel-panels%3
			p := Product{RS: k + 1, CS: 1, LDB: ProductPanel, LDC: n + panels%2, M: m, N: n, K: k, Set: (m+panels)%2 == 0}
			if (m+panels)%3 == 0 {
				p.RS, p.CS, p.Tile = 1, ProductGroup, GroupPitch(k)
			}
			pitch := k*ProductPanel + 8*(m%2)
			last := (m-1)/ProductGroup*max(p.Tile, ProductGroup*p.RS) + (m-1)%ProductGroup*p.RS + (k-1)*p.CS
			if m > ProductGroup { // the group before the last may end after it
				last = max(last, ((m-1)/ProductGroup-1)*max(p.Tile, ProductGroup*p.RS)+(ProductGroup-1)*p.RS+(k-1)*p.CS)
			}
			p.A = simdtest.Draw(last+1, next)
			p.B = simdtest.Draw((panels-1)*pitch+k*ProductPanel, next)
			c, intact := simdtest.Guarded((m-1)*p.LDC+n, panels%16, next)
			one, narrow := p, p
			one.C, narrow.C = append([]Float(nil), c...), append([]Float(nil), c...)
			for j := 0; j < n; j += ProductPanel {
				q := one
				q.B, q.C, q.N = p.B[j/ProductPanel*pitch:], one.C[j:], min(ProductPanel, n-j)
				q.MulAdd()
			}
			p.C = c
			p.Panels(pitch)
			if !intact() {
				t.Fatalf("%d×%d×%d: wrote beyond the result", m, k, n)
			}
			undo := cpu.Narrow()
			narrow.Panels(pitch)
			undo()
			if !slices.Equal(p.C, one.C) || !slices.Equal(narrow.C, one.C) {
				t.Fatalf("%d×%d×%d: other bits than by single panels", m, k, n)
			}
		}
	}
}

func TestProductAllocations(t *testing.T) {
	x, y, z := make([]Float, 100), make([]Float, 100), make([]Float, 100)
	n := testing.AllocsPerRun(10, func() {
		p := Product{A: x, B: y, C: z, RS: 5, CS: 1, LDB: 5, LDC: 5, M: 5, N: 5, K: 5}
		p.MulAdd()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
