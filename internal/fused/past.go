package fused

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Past is dot-product attention of single queries to rows that are kept in regions, such as
// the tokens of a sentence so far. Query i hears the first n = Lens[i] rows of region r =
// Regions[i]:
//
//	y[i,h,:] = Σ_u softmax_u(Scale·⟨K[r,h,:,u], Q[i,h,:]⟩ + Bias[clamp(n−1−u)+Reach, h])·X[r,u,h,:]
//
// Keys lie by columns, so that the scores of a query are a product with a matrix. The result has
// the bits that [Blocks] gives a destination which hears these sources, in one block with others:
// with a Window, those of a causal band.
type Past struct {
	K          []tensor.Float // of each region Heads·KeyWidth rows of Room elements
	X          []tensor.Float // of each region Room rows of Heads·ValueWidth elements
	Room       int
	Heads      int
	KeyWidth   int
	ValueWidth int
	Scale      tensor.Float
	Bias       []tensor.Float // 2·Reach+1 rows of Heads elements; nil: none
	Reach      int
	Whole      bool // regions do not grow: the block is one where all hear all

	Regions, Lens []int32
	Window        int            // of the last row of a region, at most so many before it are heard; 0: all
	Bases         []int32        // with a Window: at which place of its sequence each query's region begins
	Q, Y          []tensor.Float // Y is zero

	perChunk int
}

// PastBegin returns the first place that is read for the token at a place under a window, where
// tiles of a band begin: what is before it can be forgotten.
func PastBegin(place, window int) int { return max(0, place/blockDst*blockDst-window) }

// PastMost is how many places are read at most under a window.
func PastMost(window int) int { return window + blockDst }

// pastChunk is about how many products a thread takes at a time.
const pastChunk = 1 << 17

// Forward sets Y to the result.
func (p *Past) Forward() {
	most := int32(1)
	for _, n := range p.Lens {
		most = max(most, n)
	}
	jobs := len(p.Lens) * p.Heads
	p.perChunk = max(1, pastChunk/(int(most)*(p.KeyWidth+p.ValueWidth)))
	if chunks := (jobs + p.perChunk - 1) / p.perChunk; chunks > 1 {
		par.Run(chunks, p)
	} else {
		p.Chunk(0)
	}
}

// Chunk computes some heads of some queries.
func (p *Past) Chunk(i int) {
	b := blocks.Get().(*block)
	b.begin()
	b.p = room(b.p, longSrc)
	for job, last := i*p.perChunk, min((i+1)*p.perChunk, len(p.Lens)*p.Heads); job < last; job++ {
		p.query(b, job/p.Heads, job%p.Heads)
	}
	blocks.Put(b)
}

// query computes head h of query i, as [block.forward] does a destination.
func (p *Past) query(b *block, i, h int) {
	if p.Lens[i] == 0 {
		return
	}
	n, at := int(p.Lens[i]), int(p.Regions[i])*p.Room*p.Heads
	first, heard := p.heard(i)
	q := p.Q[(i*p.Heads+h)*p.KeyWidth:][:p.KeyWidth]
	y := p.Y[(i*p.Heads+h)*p.ValueWidth:][:p.ValueWidth]
	k, x := p.K[at*p.KeyWidth+h*p.KeyWidth*p.Room:], p.X[at*p.ValueWidth+h*p.ValueWidth:]
	stats := [2]tensor.Float{tensor.Float(math.Inf(-1)), 0}
	top, sum := stats[:1], stats[1:]
	step := sumStep(p.Whole, n)
	for u := first; u < n; u += step {
		nu := min(step, n-u)
		row := b.p[:step]
		clear(row)
		(&gemm.Product{A: q, RS: p.KeyWidth, CS: 1, B: k[u:], LDB: p.Room, C: row, LDC: step, M: 1, N: nu, K: p.KeyWidth}).MulAdd()
		vec.Scale.Forward(row, row, p.Scale)
		if p.Bias != nil {
			for j := range nu {
				row[j] += p.Bias[(min(n-1-u-j, p.Reach)+p.Reach)*p.Heads+h]
			}
		}
		vec.NoTop(row[:min(max(heard-u, 0), nu)])
		vec.NoTop(row[nu:])
		raise(vec.MaxOf(row), &top[0], &sum[0], y)
		(&attend.SoftRows{X: row, Top: top, Sum: sum, Rows: 1, Stride: step, Width: step, Each: 1, Scale: 1}).Add()
		all := p.Heads * p.ValueWidth
		(&gemm.Product{A: row, RS: step, CS: 1, B: x[u*all:], LDB: all, C: y, LDC: p.ValueWidth, M: 1, N: p.ValueWidth, K: nu}).MulAdd()
	}
	vec.DivideRows(y, sum)
}

// heard returns the row of its region with which query i's tiles begin, and the first it hears.
func (p *Past) heard(i int) (first, heard int) {
	if p.Window == 0 {
		return 0, 0
	}
	base := int(p.Bases[i])
	place := base + int(p.Lens[i]) - 1
	return PastBegin(place, p.Window) - base, max(0, place-p.Window) - base
}
