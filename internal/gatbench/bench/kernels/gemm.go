package kernels

import (
	"fmt"
	"maps"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/tensor"
)

// products are m, k and n of gemm and gemm_ta: layers and gradients of weights
// of networks on Cora, PubMed and a graph of arXiv's size.
var products = [][3]int{
	{1024, 1024, 1024}, {45000, 1024, 1024}, {169343, 128, 256}, {19717, 500, 64}, {2708, 1433, 64},
}

var transposed = [][3]int{
	{1433, 2708, 64}, {1024, 45000, 1024}, {128, 169343, 256}, {500, 19717, 64},
}

// narrow are products with few or odd columns, each beside its padded size.
var narrow = [][3]int{
	{2708, 1433, 7}, {2708, 1433, 8}, {2708, 1433, 9}, {2708, 1433, 16}, {2708, 1433, 17}, {2708, 1433, 32},
	{511, 513, 509}, {512, 516, 512},
}

// thin are products of which a side is one or few, of each kind: scores of attention, heads with
// one output, a batch of one, weight gradients of these.
var thin = map[string][][3]int{
	"gemm":    {{1024, 256, 1}, {169343, 64, 1}, {1, 1433, 256}, {64, 256, 64}, {20000, 16, 16}},
	"gemm_ta": {{1433, 64, 1}, {16, 169343, 1}, {256, 16, 256}, {256, 1024, 256}},
	"gemm_tb": {{1, 1433, 256}, {16, 1433, 64}, {64, 256, 64}},
}

// Products are dense products of all kinds.
func Products(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	add := func(kind string, sizes ...[3]int) {
		for _, s := range sizes {
			out = append(out, gemmBenchmark(kind, s, c.Threads))
		}
	}
	add("gemm", products...)
	add("gemm_ta", transposed...)
	add("gemm_odd", narrow...)
	for _, kind := range slices.Sorted(maps.Keys(thin)) {
		add(kind, thin[kind]...)
	}
	add("gemm_packed", [3]int{64, 128, 512})
	return out
}

// plainFlops is about how much of a product the plain loop is timed on.
const plainFlops = 1 << 25

// gemmBenchmark is C = AB with A m×k, B k×n; of gemm_ta, A is stored k×m; of gemm_tb, B is stored n×k; of
// gemm_packed, B is packed beforehand; gemm_odd has narrow and odd shapes. C is overwritten, as the peers do.
func gemmBenchmark(kind string, s [3]int, threads int) bench.Benchmark {
	m, k, n := s[0], s[1], s[2]
	b := bench.Benchmark{
		Name:   fmt.Sprintf("%s/%dx%dx%d", kind, m, k, n),
		Op:     "dense/" + kind,
		Params: map[string]any{"m": m, "k": k, "n": n, "threads": threads},
		Lanes:  threads,
		Flops:  2 * float64(m) * float64(k) * float64(n),
		Bytes:  float64(bench.FloatSize) * (float64(m)*float64(k) + float64(k)*float64(n) + float64(m)*float64(n)),
	}
	switch kind {
	case "gemm_packed":
		b.Op = kind // the peers have no such thing
	case "gemm_odd":
		b.Op = "dense/gemm" // theirs too
	}
	b.Prepare = func() bench.Work {
		p := newMatMul(kind, m, k, n)
		return bench.Work{Call: p.run, Plain: p.plain(min(1, plainFlops/b.Flops)), Rival: p.gonum(min(1, gonumFlops/b.Flops))}
	}
	return b
}

// matMul is a product with its operands.
type matMul struct {
	m, k, n   int
	a, b, c   *tensor.Dense
	stored    *tensor.Dense // b, as it is stored
	packed    *tensor.Packed
	transpose tensor.Flags
}

func newMatMul(kind string, m, k, n int) *matMul {
	p := &matMul{m: m, k: k, n: n, b: bench.Operand(k, n), c: tensor.New(m, n)}
	p.a, p.stored = bench.Operand(m, k), p.b
	switch kind {
	case "gemm_ta":
		p.a, p.transpose = bench.Operand(k, m), tensor.TransA
	case "gemm_tb":
		p.stored, p.transpose = tensor.New(n, k), tensor.TransB
		tensor.Transpose(p.stored, p.b)
	}
	if kind == "gemm_packed" {
		p.packed = tensor.Pack(p.b, 0)
	}
	return p
}

func (p *matMul) run() {
	if p.packed != nil {
		tensor.MatMulPackedThen(p.c, p.a, p.packed, 0, tensor.Epilogue{})
		return
	}
	tensor.MatMulThen(p.c, p.a, p.stored, p.transpose, tensor.Epilogue{})
}

// plain is about a share of the product as loops: some of the rows of C or,
// where A is transposed, some of the steps of k.
func (p *matMul) plain(share float64) bench.Reference {
	if p.transpose == tensor.TransA {
		steps := max(1, int(share*float64(p.k)))
		return bench.Reference{Share: float64(steps) / float64(p.k), Call: func() { p.loopTA(steps) }}
	}
	rows := max(1, int(share*float64(p.m)))
	return bench.Reference{Share: float64(rows) / float64(p.m), Call: func() { p.loop(rows) }}
}

// loop computes the first rows of C = AB.
func (p *matMul) loop(rows int) {
	for i := range rows {
		c := p.c.Row(i)
		clear(c)
		for k, a := range p.a.Row(i) {
			addScaled(c, p.b.Row(k), a)
		}
	}
}

// loopTA computes the first steps of C = AᵀB.
func (p *matMul) loopTA(steps int) {
	p.c.Zero()
	for k := range steps {
		b := p.b.Row(k)
		for i, a := range p.a.Row(k) {
			addScaled(p.c.Row(i), b, a)
		}
	}
}

func addScaled(c, b []tensor.Float, a tensor.Float) {
	c = c[:len(b)]
	for j, v := range b {
		c[j] += a * v
	}
}
