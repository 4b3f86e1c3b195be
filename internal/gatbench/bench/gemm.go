package bench

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/tensor"
)

// plainFlops is about how much of a product the plain loop is timed on.
const plainFlops = 1 << 25

// gemmBenchmark is C = AB with A m×k, B k×n; of gemm_ta, A is stored k×m; of gemm_tb, B is stored n×k; of
// gemm_packed, B is packed beforehand; gemm_odd has narrow and odd shapes. C is overwritten, as the peers do.
func gemmBenchmark(kind string, s [3]int, threads int) Benchmark {
	m, k, n := s[0], s[1], s[2]
	b := Benchmark{
		name:   fmt.Sprintf("%s/%dx%dx%d", kind, m, k, n),
		op:     "dense/" + kind,
		params: map[string]any{"m": m, "k": k, "n": n, "threads": threads},
		lanes:  threads,
		flops:  2 * float64(m) * float64(k) * float64(n),
		bytes:  float64(floatSize) * (float64(m)*float64(k) + float64(k)*float64(n) + float64(m)*float64(n)),
	}
	switch kind {
	case "gemm_packed":
		b.op = kind // the peers have no such thing
	case "gemm_odd":
		b.op = "dense/gemm" // theirs too
	}
	b.prepare = func() workload {
		p := newMatMul(kind, m, k, n)
		return workload{call: p.run, plain: p.plain(min(1, plainFlops/b.flops)), rival: p.gonum(min(1, gonumFlops/b.flops))}
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
	p := &matMul{m: m, k: k, n: n, b: newOperand(k, n), c: tensor.New(m, n)}
	p.a, p.stored = newOperand(m, k), p.b
	switch kind {
	case "gemm_ta":
		p.a, p.transpose = newOperand(k, m), tensor.TransA
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
func (p *matMul) plain(share float64) reference {
	if p.transpose == tensor.TransA {
		steps := max(1, int(share*float64(p.k)))
		return reference{share: float64(steps) / float64(p.k), call: func() { p.loopTA(steps) }}
	}
	rows := max(1, int(share*float64(p.m)))
	return reference{share: float64(rows) / float64(p.m), call: func() { p.loop(rows) }}
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
