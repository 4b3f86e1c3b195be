package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// EdgeRows64 writes the kernels of EdgeRows for such rows.
func EdgeRows64() {
	newEdgeRows64("Affine", "V", "C", "Z").affine()
	newEdgeRows64("AffineGrad", "C", "Z", "D", "G", "DV").affineGrad()
}

// edgeRows64 is a kernel on a EdgeRows of such rows.
type edgeRows64 struct {
	*edgeRows
	k, u, cols reg.GPVirtual
	base       reg.GPVirtual // of the rows of sources
	far, stop  reg.GPVirtual // the columns some edges ahead, and the last edge that has one there
}

func newEdgeRows64(name string, fields ...string) *edgeRows64 {
	kernel := "edgeRows" + name + "64"
	f := &edgeRows{at: map[string]reg.GPVirtual{}}
	f.Args = StartOn("EdgeRows", kernel, "", kernel+" is EdgeRows."+name+" of one head of 64 elements.")
	for _, field := range append(fields, "U", "Cols") {
		f.at[field] = GP64()
		MOVQ(f.Field(field), f.at[field])
	}
	w := &edgeRows64{edgeRows: f, k: GP64(), u: GP64(), base: f.at["U"], cols: f.at["Cols"], far: GP64(), stop: GP64()}
	ahead, near := GP64(), Fresh("near")
	MOVQ(f.Field("ahead"), ahead)
	LEAQ(Mem{Base: w.cols, Index: ahead, Scale: 4}, w.far)
	MOVQ(I32(-1), w.stop)
	TESTQ(ahead, ahead)
	JZ(LabelRef(near))
	MOVQ(f.Field("last"), w.stop)
	SUBQ(ahead, w.stop)
	Label(near)
	return w
}

// part is the i-th register of an array's row.
func (w *edgeRows64) part(field string, i int) Mem {
	return Mem{Base: w.edgeRows.at[field], Disp: 32 * i}
}

// edges writes the loop over destinations and their edges. The rows of field are in the
// registers v, and are stored if keep is set.
func (w *edgeRows64) edges(field string, keep bool, perEdge, numbers []string, body func(v []Vec)) {
	row, edge, next, done := Fresh("row"), Fresh("edge"), Fresh("next"), Fresh("done")
	offs := GP64()
	MOVQ(w.Field("Offsets"), offs)
	Label(row)
	DECQ(w.Field("left"))
	JL(LabelRef(done))
	MOVQ(Mem{Base: offs}, w.k)
	CMPQ(w.k, Mem{Base: offs, Disp: 8})
	JGE(LabelRef(next))
	// The destination's row, in registers over all of its edges.
	v := make([]Vec, WideLanes)
	for i := range v {
		v[i] = Get(w.part(field, i))
	}
	// An edge: ask for a later source's row, find this one's, do what the kernel does.
	Label(edge)
	w.fetch()
	w.source(Mem{Base: w.cols, Index: w.k, Scale: 4})
	body(v)
	for _, a := range perEdge {
		ADDQ(U32(WideBytes), w.edgeRows.at[a])
	}
	for _, a := range numbers {
		ADDQ(Imm(4), w.edgeRows.at[a])
	}
	INCQ(w.k)
	CMPQ(w.k, Mem{Base: offs, Disp: 8})
	JL(LabelRef(edge))
	// Store the destination's row.
	if keep {
		for i := range v {
			VMOVUPS(v[i], w.part(field, i))
		}
	}
	Label(next)
	// On to the next destination.
	ADDQ(U32(WideBytes), w.edgeRows.at[field])
	ADDQ(Imm(8), offs)
	JMP(LabelRef(row))
	Label(done)
	Finish()
}

// source sets u to where the row of a source begins, counted from the first.
func (w *edgeRows64) source(col Mem) {
	MOVLQSX(col, w.u)
	SHLQ(Imm(WideShift), w.u)
}

// rowOf is the i-th register of the source's row.
func (w *edgeRows64) rowOf(i int) Mem { return Mem{Base: w.base, Index: w.u, Scale: 1, Disp: 32 * i} }

// fetch asks for rows of sources as edgeRows.fetch.
func (w *edgeRows64) fetch() {
	none := Fresh("none")
	CMPQ(w.k, w.stop)
	JG(LabelRef(none))
	// From memory to the second cache, and from there to the first.
	w.source(Mem{Base: w.far, Index: w.k, Scale: 4})
	for l := range WideLines {
		PREFETCHT1(w.rowOf(2 * l))
	}
	w.source(Mem{Base: w.cols, Index: w.k, Scale: 4, Disp: 4 * NearAhead})
	for l := range WideLines {
		PREFETCHT0(w.rowOf(2 * l))
	}
	Label(none)
}

// claim is edgeRows.claim.
func (w *edgeRows64) claim() {
	LEAQ(Mem{Base: w.edgeRows.at["Z"], Disp: NearAhead*WideBytes + 2*LineBytes}, reg.RAX)
	for line := -2; line < WideLines-2; line++ {
		PrefetchRAX(int8(line * LineBytes))
	}
}

// affine writes EdgeRows.Affine of such rows:
//
//	Z[e,:] = C[e]·U[e,:] + V[r,:]
func (w *edgeRows64) affine() {
	w.edges("V", false, []string{"Z"}, []string{"C"}, func(v []Vec) {
		c := w.number("C")
		for i := range v {
			z := Get(w.rowOf(i))
			VFMADD213PS(v[i], c, z)
			VMOVUPS(z, w.part("Z", i))
		}
	})
}

// affineGrad writes EdgeRows.AffineGrad of such rows:
//
//	Z[e,:] = C[e]·D[e,:]    G[e] = Σ_j U[e,j]·D[e,j]    DV[r,:] += D[e,:]
func (w *edgeRows64) affineGrad() {
	w.setting(func() {
		w.edges("DV", true, []string{"Z", "D"}, []string{"C", "G"}, func(v []Vec) {
			w.claim()
			c := w.number("C")
			var sums [2]Vec
			for i := range v {
				// The gradient of the edge's row: to the source, to the destination, to the number.
				d := Get(w.part("D", i))
				z := Mul(c, d)
				if w.more {
					VADDPS(w.part("Z", i), z, z)
				}
				VMOVUPS(z, w.part("Z", i))
				VADDPS(d, v[i], v[i])
				sums[i%2] = product(sums[i%2], d, w.rowOf(i))
			}
			// Horizontal sum of the inner product.
			VMOVSS(Across(Add(sums[0], sums[1])), Mem{Base: w.edgeRows.at["G"]})
		})
	})
}
