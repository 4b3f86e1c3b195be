package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows of one head of 64 elements, which layers without heads most often have, are four
// lines and fill eight registers. Their kernels keep the row of a destination there over
// all of its edges, and go through no loop within a row.
const (
	wideLanes = 8
	wideBytes = 32 * wideLanes
	wideShift = 8 // of the number of a row, to where it begins
	wideLines = wideBytes / lineBytes
)

// rows64 writes the kernels of simd.Fan for such rows.
func rows64() {
	newRow64("Affine", "V", "C", "Z").affine()
	newRow64("AffineGrad", "C", "Z", "D", "G", "DV").affineGrad()
}

// row64 is a kernel on a simd.Fan of such rows.
type row64 struct {
	*fan
	k, u, cols reg.GPVirtual
	base       reg.GPVirtual // of the rows of sources
	far, stop  reg.GPVirtual // the columns some edges ahead, and the last edge that has one there
}

func newRow64(name string, fields ...string) *row64 {
	kernel := "edgeRows" + name + "64"
	f := &fan{at: map[string]reg.GPVirtual{}}
	f.args = startOn("EdgeRows", kernel, "", kernel+" is EdgeRows."+name+" of one head of 64 elements.")
	for _, field := range append(fields, "U", "Cols") {
		f.at[field] = GP64()
		MOVQ(f.field(field), f.at[field])
	}
	w := &row64{fan: f, k: GP64(), u: GP64(), base: f.at["U"], cols: f.at["Cols"], far: GP64(), stop: GP64()}
	ahead, near := GP64(), fresh("near")
	MOVQ(f.field("ahead"), ahead)
	LEAQ(Mem{Base: w.cols, Index: ahead, Scale: 4}, w.far)
	MOVQ(I32(-1), w.stop)
	TESTQ(ahead, ahead)
	JZ(LabelRef(near))
	MOVQ(f.field("last"), w.stop)
	SUBQ(ahead, w.stop)
	Label(near)
	return w
}

// part is the i-th register of an array's row.
func (w *row64) part(field string, i int) Mem { return Mem{Base: w.fan.at[field], Disp: 32 * i} }

// edges writes the loop over destinations and their edges. The rows of field are in the
// registers v, and are stored if keep is set.
func (w *row64) edges(field string, keep bool, perEdge, numbers []string, body func(v []vec)) {
	row, edge, next, done := fresh("row"), fresh("edge"), fresh("next"), fresh("done")
	offs := GP64()
	MOVQ(w.field("Offsets"), offs)
	Label(row)
	DECQ(w.field("left"))
	JL(LabelRef(done))
	MOVQ(Mem{Base: offs}, w.k)
	CMPQ(w.k, Mem{Base: offs, Disp: 8})
	JGE(LabelRef(next))
	v := make([]vec, wideLanes)
	for i := range v {
		v[i] = get(w.part(field, i))
	}
	Label(edge)
	w.fetch()
	w.source(Mem{Base: w.cols, Index: w.k, Scale: 4})
	body(v)
	for _, a := range perEdge {
		ADDQ(U32(wideBytes), w.fan.at[a])
	}
	for _, a := range numbers {
		ADDQ(Imm(4), w.fan.at[a])
	}
	INCQ(w.k)
	CMPQ(w.k, Mem{Base: offs, Disp: 8})
	JL(LabelRef(edge))
	if keep {
		for i := range v {
			VMOVUPS(v[i], w.part(field, i))
		}
	}
	Label(next)
	ADDQ(U32(wideBytes), w.fan.at[field])
	ADDQ(Imm(8), offs)
	JMP(LabelRef(row))
	Label(done)
	finish()
}

// source sets u to where the row of a source begins, counted from the first.
func (w *row64) source(col Mem) {
	MOVLQSX(col, w.u)
	SHLQ(Imm(wideShift), w.u)
}

// rowOf is the i-th register of the source's row.
func (w *row64) rowOf(i int) Mem { return Mem{Base: w.base, Index: w.u, Scale: 1, Disp: 32 * i} }

// fetch asks for rows of sources as fan.fetch.
func (w *row64) fetch() {
	none := fresh("none")
	CMPQ(w.k, w.stop)
	JG(LabelRef(none))
	w.source(Mem{Base: w.far, Index: w.k, Scale: 4})
	for l := range wideLines {
		PREFETCHT1(w.rowOf(2 * l))
	}
	w.source(Mem{Base: w.cols, Index: w.k, Scale: 4, Disp: 4 * nearAhead})
	for l := range wideLines {
		PREFETCHT0(w.rowOf(2 * l))
	}
	Label(none)
}

// claim is fan.claim.
func (w *row64) claim() {
	LEAQ(Mem{Base: w.fan.at["Z"], Disp: nearAhead*wideBytes + 2*lineBytes}, reg.RAX)
	for line := -2; line < wideLines-2; line++ {
		prefetchRAX(int8(line * lineBytes))
	}
}

func (w *row64) affine() {
	w.edges("V", false, []string{"Z"}, []string{"C"}, func(v []vec) {
		c := w.number("C")
		for i := range v {
			z := get(w.rowOf(i))
			VFMADD213PS(v[i], c, z)
			VMOVUPS(z, w.part("Z", i))
		}
	})
}

func (w *row64) affineGrad() {
	w.setting(func() {
		w.edges("DV", true, []string{"Z", "D"}, []string{"C", "G"}, func(v []vec) {
			w.claim()
			c := w.number("C")
			var sums [2]vec
			for i := range v {
				d := get(w.part("D", i))
				z := mul(c, d)
				if w.more {
					VADDPS(w.part("Z", i), z, z)
				}
				VMOVUPS(z, w.part("Z", i))
				VADDPS(d, v[i], v[i])
				sums[i%2] = product(sums[i%2], d, w.rowOf(i))
			}
			VMOVSS(across(add(sums[0], sums[1])), Mem{Base: w.fan.at["G"]})
		})
	})
}

// gather64 writes simd.Rows.Gather of such rows.
func gather64() {
	start("gatherRows64AVX2", "func(dst, src *float32, rows *int32, n, ahead, near int)", "gatherRows64AVX2 is GatherRows of n rows of 64 elements.")
	dst, src, rows := param("dst"), param("src"), param("rows")
	n, ahead, near := param("n"), param("ahead"), param("near")
	i, s := GP64(), GP64()
	find := func(list reg.GPVirtual) {
		MOVLQSX(Mem{Base: list, Index: i, Scale: 4}, s)
		SHLQ(Imm(wideShift), s)
	}
	XORQ(i, i)
	LEAQ(Mem{Base: rows, Index: ahead, Scale: 4}, ahead)
	each64(i, n, near, func() {
		find(ahead)
		for l := range wideLines {
			PREFETCHT1(Mem{Base: src, Index: s, Scale: 1, Disp: lineBytes * l})
		}
	}, func() {
		find(rows)
		for k := range wideLanes {
			VMOVUPS(get(Mem{Base: src, Index: s, Scale: 1, Disp: 32 * k}), Mem{Base: dst, Disp: 32 * k})
		}
		ADDQ(U32(wideBytes), dst)
	})
}

// each64 writes the loop over n rows: fetch, for the first near of them, and body.
func each64(i, n, near reg.GPVirtual, fetch, body func()) {
	again, none := fresh("again"), fresh("none")
	Label(again)
	CMPQ(i, near)
	JGE(LabelRef(none))
	fetch()
	Label(none)
	body()
	INCQ(i)
	CMPQ(i, n)
	JL(LabelRef(again))
	finish()
}

// scatter64 writes simd.Rows.Scatter of such rows.
func scatter64() {
	start("scatterRows64AVX2", "func(dst, src *float32, to *int32, from *uint16, n, ahead, near int)", "scatterRows64AVX2 is ScatterRows of n rows of 64 elements.")
	dst, src, to, from := param("dst"), param("src"), param("to"), param("from")
	n, ahead, near := param("n"), param("ahead"), param("near")
	i, s, d := GP64(), GP64(), GP64()
	row := func(base, at reg.GPVirtual, k int) Mem { return Mem{Base: base, Index: at, Scale: 1, Disp: 32 * k} }
	find := func(list reg.GPVirtual) {
		MOVWQZX(Mem{Base: list, Index: i, Scale: 2}, s)
		MOVLQSX(Mem{Base: to, Index: s, Scale: 4}, d)
		SHLQ(Imm(wideShift), s)
		SHLQ(Imm(wideShift), d)
	}
	XORQ(i, i)
	LEAQ(Mem{Base: from, Index: ahead, Scale: 2}, ahead)
	each64(i, n, near, func() {
		find(ahead)
		for l := range wideLines {
			PREFETCHT1(row(dst, d, 2*l))
			PREFETCHT0(row(src, s, 2*l))
		}
	}, func() {
		find(from)
		for k := range wideLanes {
			VMOVUPS(add(get(row(src, s, k)), row(dst, d, k)), row(dst, d, k))
		}
	})
}
