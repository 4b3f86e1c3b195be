package attend

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// EdgeRows writes the kernels of EdgeRows: one for heads of any number of registers,
// and one for eight heads of one.
func EdgeRows() {
	for _, eight := range []bool{false, true} {
		newEdgeRows("Score", eight, "V", "A", "C").score()
		newEdgeRows("ScoreGrad", eight, "V", "A", "C", "Z", "DV").scoreGrad(false)
		newEdgeRows("ScoreDots", eight, "V", "A", "C", "G", "R").scoreDots()
		newEdgeRows("ScoreBrief", eight, "V", "A", "C", "DV", "G", "Places").scoreGrad(true)
		newEdgeRows("Sum", eight, "C", "DV").sum()
		newEdgeRows("Spread", eight, "V", "C", "Z").spread()
		newEdgeRows("Dots", eight, "V", "G").dots()
		newEdgeRows("Affine", eight, "V", "C", "Z").affine()
		newEdgeRows("AffineGrad", eight, "C", "Z", "D", "G", "DV").affineGrad()
	}
}

// edgeRows is a kernel on a EdgeRows.
type edgeRows struct {
	Args
	eight bool
	at    map[string]reg.GPVirtual // the arrays' pointers, by their fields
	j     reg.GPVirtual            // where in a row, in bytes
	disp  int                      // and the same, where heads are written one by one
	h     int                      // the head there
	more  bool                     // Z is added to
	last  func()                   // what follows the last edge
}

func newEdgeRows(name string, eight bool, fields ...string) *edgeRows {
	kernel, of := "edgeRows"+name, "."
	if eight {
		kernel, of = kernel+"8", " of eight heads of eight elements."
	}
	f := &edgeRows{eight: eight, at: map[string]reg.GPVirtual{}}
	f.Args = StartOn("EdgeRows", kernel, "", kernel+" is EdgeRows."+name+of)
	for _, field := range fields {
		f.at[field] = GP64()
		MOVQ(f.Field(field), f.at[field])
	}
	return f
}

// pointer is an array's. One that goes along no loop may be read anew.
func (f *edgeRows) pointer(field string) reg.GPVirtual {
	if at := f.at[field]; at != nil {
		return at
	}
	at := GP64()
	MOVQ(f.Field(field), at)
	return at
}

// row is the next elements of an array's row.
func (f *edgeRows) row(field string) Mem {
	m := Mem{Base: f.pointer(field), Disp: f.disp}
	if f.j != nil {
		m.Index, m.Scale = f.j, 1
	}
	return m
}

// number is that of the head, in all lanes.
func (f *edgeRows) number(field string) Vec {
	v := YMM()
	VBROADCASTSS(Mem{Base: f.at[field], Disp: 4 * f.h}, v)
	return v
}

// slope is that of the negative.
func (f *edgeRows) slope() Vec {
	v := YMM()
	VBROADCASTSS(f.Field("Slope"), v)
	return v
}

// setting writes a kernel twice: for a Z that is set, and one that is added to.
func (f *edgeRows) setting(body func()) {
	more := Fresh("more")
	CMPB(f.Field("Add"), Imm(0))
	JNE(LabelRef(more))
	body()
	Label(more)
	f.more = true
	body()
}

// put stores v in Z, or adds it.
func (f *edgeRows) put(v Vec) {
	if f.more {
		v = Add(v, f.row("Z"))
	}
	VMOVUPS(v, f.row("Z"))
}

// edges writes the loop over destinations and their edges. perEdge are the arrays
// with a row for each edge, perRow those with one for each destination.
func (f *edgeRows) edges(perEdge, perRow []string, body func()) {
	row, edge, next, done := Fresh("row"), Fresh("edge"), Fresh("next"), Fresh("done")
	offs, k := GP64(), GP64()
	// Rows: those without edges are passed over.
	MOVQ(f.Field("Offsets"), offs)
	f.at["U"] = GP64()
	Label(row)
	DECQ(f.Field("left"))
	JL(LabelRef(done))
	MOVQ(Mem{Base: offs}, k)
	CMPQ(k, Mem{Base: offs, Disp: 8})
	JGE(LabelRef(next))
	Label(edge)
	// The edge: its source's row, and a request for later ones.
	f.source(k, f.at["U"])
	f.fetch(k)
	body()
	// On to the next edge, and its rows.
	for _, a := range perEdge {
		ADDQ(f.Field("bytes"), f.at[a])
	}
	INCQ(k)
	CMPQ(k, Mem{Base: offs, Disp: 8})
	JL(LabelRef(edge))
	// On to the next destination.
	Label(next)
	for _, a := range perRow {
		ADDQ(f.Field("bytes"), f.at[a])
	}
	ADDQ(Imm(8), offs)
	JMP(LabelRef(row))
	Label(done)
	if f.last != nil {
		f.last()
	}
	Finish()
}

// source sets at to the row of edge k's source.
func (f *edgeRows) source(k, at reg.GPVirtual) {
	cols := GP64()
	MOVQ(f.Field("Cols"), cols)
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	IMULQ(f.Field("bytes"), at)
	ADDQ(f.Field("U"), at)
}

// fetch asks for the row of the source of an edge some way ahead, and again for that
// of one that is soon read.
func (f *edgeRows) fetch(k reg.GPVirtual) {
	none, line := Fresh("near"), Fresh("line")
	far, near, end := GP64(), GP64(), GP64()
	// Nothing to ask for: the rows are near, or the edges are the last.
	MOVQ(f.Field("ahead"), far)
	TESTQ(far, far)
	JZ(LabelRef(none))
	ADDQ(k, far)
	CMPQ(far, f.Field("last"))
	JG(LabelRef(none))
	// One row for the second cache, one for the first.
	f.source(far, far)
	LEAQ(Mem{Base: k, Disp: NearAhead}, near)
	f.source(near, near)
	if f.eight {
		for l := range 4 {
			PREFETCHT1(Mem{Base: far, Disp: LineBytes * l})
			PREFETCHT0(Mem{Base: near, Disp: LineBytes * l})
		}
		Label(none)
		return
	}
	// Rows of any length, line by line.
	MOVQ(far, end)
	ADDQ(f.Field("bytes"), end)
	Label(line)
	PREFETCHT1(Mem{Base: far})
	PREFETCHT0(Mem{Base: near})
	ADDQ(Imm(LineBytes), far)
	ADDQ(Imm(LineBytes), near)
	CMPQ(far, end)
	JL(LabelRef(line))
	Label(none)
}

// claim asks for the lines of the row of Z that some edges later will be written, as
// its own: another processor may have them, which has read what was there.
func (f *edgeRows) claim() {
	row, end, line := GP64(), GP64(), Fresh("claim")
	MOVQ(f.Field("bytes"), end)
	MOVQ(end, row)
	SHLQ(Imm(3), row) // nearAhead rows
	ADDQ(f.at["Z"], row)
	ADDQ(row, end)
	Label(line)
	PrefetchToWrite(row)
	ADDQ(Imm(LineBytes), row)
	CMPQ(row, end)
	JL(LabelRef(line))
}

// headed is what a kernel does for each head: open before its elements, step
// with eight of them, and shut after them. numbers are the arrays of a number for
// each head.
type headed struct {
	open, step, shut func()
	numbers          []string
}

// heads writes the loops over an edge's heads and their elements.
func (f *edgeRows) heads(b headed) {
	do := func(part func()) {
		if part != nil {
			part()
		}
	}
	// Eight heads of one register: all written out.
	if f.eight {
		for f.h = 0; f.h < 8; f.h++ {
			f.disp = 32 * f.h
			do(b.open)
			b.step()
			do(b.shut)
		}
		f.h, f.disp = 0, 0
		for _, a := range b.numbers {
			ADDQ(Imm(32), f.at[a])
		}
		return
	}
	// A loop over heads: to the end of each, four registers at a time and then one.
	head := Fresh("head")
	end := GP64()
	f.j = GP64()
	XORQ(f.j, f.j)
	Label(head)
	MOVQ(f.Field("Width"), end)
	LEAQ(Mem{Base: f.j, Index: end, Scale: 4}, end)
	do(b.open)
	four, one, over := Fresh("four"), Fresh("one"), Fresh("over")
	Label(four)
	ahead := GP64()
	LEAQ(Mem{Base: f.j, Disp: 128}, ahead)
	CMPQ(ahead, end)
	JG(LabelRef(one))
	for f.disp = 0; f.disp < 128; f.disp += 32 {
		b.step()
	}
	f.disp = 0
	ADDQ(Imm(128), f.j)
	JMP(LabelRef(four))
	Label(one)
	CMPQ(f.j, end)
	JGE(LabelRef(over))
	b.step()
	ADDQ(Imm(32), f.j)
	JMP(LabelRef(one))
	Label(over)
	do(b.shut)
	for _, a := range b.numbers {
		ADDQ(Imm(4), f.at[a])
	}
	CMPQ(f.j, f.Field("bytes"))
	JL(LabelRef(head))
	f.j = nil
}

// sums is heads of a kernel whose result is the sum of each head's terms.
func (f *edgeRows) sums(field string, numbers []string, open func(), term func(acc Vec) Vec) {
	if f.eight {
		var terms totaller
		f.heads(headed{open: open, numbers: numbers, step: func() { terms.take(term(nil)) }})
		VMOVUPS(terms.totals(), Mem{Base: f.at[field], Disp: -32})
		return
	}
	acc := YMM()
	f.heads(headed{
		open: func() {
			VXORPS(acc, acc, acc)
			if open != nil {
				open()
			}
		},
		step:    func() { term(acc) },
		shut:    func() { VMOVSS(Across(acc), Mem{Base: f.at[field]}) },
		numbers: numbers,
	})
}

// product is x·m, added to acc if there is one.
func product(acc, x Vec, m Op) Vec {
	if acc == nil {
		return Mul(x, m)
	}
	return Plus(acc, x, m)
}

// totaller sums the lanes of eight registers, which it takes one by one, and
// holds few of them.
type totaller struct{ ones, twos, fours []Vec }

func (t *totaller) take(v Vec) {
	t.ones = append(t.ones, v)
	for _, level := range []struct{ from, to *[]Vec }{{&t.ones, &t.twos}, {&t.twos, &t.fours}} {
		if x := *level.from; len(x) == 2 {
			*level.from, *level.to = nil, append(*level.to, Pairwise(x[0], x[1]))
		}
	}
}

// totals are the sums, in the order of the registers.
func (t *totaller) totals() Vec { return Halves(t.fours[0], t.fours[1]) }

// sumOfEnds is the sum of what stands at both ends of an edge.
func (f *edgeRows) sumOfEnds() Vec { return Add(Get(f.row("U")), f.row("V")) }

// score writes EdgeRows.Score:
//
//	C[e,h] = Σ_j A[h,j]·leaky(U[e,h,j] + V[r,h,j])
func (f *edgeRows) score() {
	slope := f.slope()
	f.edges(nil, []string{"V"}, func() {
		f.sums("C", []string{"C"}, nil, func(acc Vec) Vec {
			l, _ := leaky(f.sumOfEnds(), slope)
			return product(acc, l, f.row("A"))
		})
	})
}

// scoreDots has two sums for each head, of one source's row.
//
//	C[e,h] = Σ_j A[h,j]·leaky(U[e,h,j] + V[r,h,j])    G[e,h] = Σ_j U[e,h,j]·R[r,h,j]
func (f *edgeRows) scoreDots() {
	slope := f.slope()
	f.edges(nil, []string{"V", "R"}, func() {
		// The source's element is loaded once, for both products.
		terms := func(score, dot Vec) (Vec, Vec) {
			u := Get(f.row("U"))
			l, _ := leaky(Add(u, f.row("V")), slope)
			return product(score, l, f.row("A")), product(dot, u, f.row("R"))
		}
		numbers := []string{"C", "G"}
		// Eight heads: sixteen sums of lanes, a register of each kind.
		if f.eight {
			var scores, dots totaller
			f.heads(headed{numbers: numbers, step: func() {
				score, dot := terms(nil, nil)
				scores.take(score)
				dots.take(dot)
			}})
			VMOVUPS(scores.totals(), Mem{Base: f.at["C"], Disp: -32})
			VMOVUPS(dots.totals(), Mem{Base: f.at["G"], Disp: -32})
			return
		}
		// Heads one by one: a horizontal sum of each.
		score, dot := YMM(), YMM()
		f.heads(headed{
			open: func() {
				VXORPS(score, score, score)
				VXORPS(dot, dot, dot)
			},
			step: func() { terms(score, dot) },
			shut: func() {
				VMOVSS(Across(score), Mem{Base: f.at["C"]})
				VMOVSS(Across(dot), Mem{Base: f.at["G"]})
			},
			numbers: numbers,
		})
	})
}

// scoreGrad keeps the gradient of A in registers where there are eight of them.
// brief is ScoreBrief.
//
//	d = C[e,h]·A[h,j]·leaky'(U + V)    Z[e,h,j] = d    DV[r,h,j] += d    DA[h,j] += C[e,h]·leaky(U + V)
func (f *edgeRows) scoreGrad(brief bool) {
	slope := f.slope()
	body := func() {
		var da [8]Vec
		// Load DA now, and store it after the last edge.
		if f.eight {
			at := f.pointer("DA")
			for h := range da {
				da[h] = Get(Mem{Base: at, Disp: 32 * h})
			}
			f.last = func() {
				at := f.pointer("DA")
				for h := range da {
					VMOVUPS(da[h], Mem{Base: at, Disp: 32 * h})
				}
			}
		}
		perEdge, numbers := []string{"Z"}, []string{"C"}
		if brief {
			perEdge, numbers = nil, append(numbers, "G")
		}
		f.edges(perEdge, []string{"V", "DV"}, func() {
			if brief {
				f.places()
			}
			var g Vec
			open := func() {
				if g = f.number("C"); brief {
					f.pair()
				}
			}
			f.heads(headed{numbers: numbers, open: open, step: func() {
				// DA: multiply-add LeakyReLU of the ends.
				l, positive := leaky(f.sumOfEnds(), slope)
				if f.eight {
					da[f.h] = Plus(da[f.h], g, l)
				} else {
					at := f.row("DA")
					VMOVUPS(Plus(Get(at), g, l), at)
				}
				// The gradient of the ends, to the destination and to the edge.
				d := Mul(g, f.row("A"))
				d = Pick(positive, d, Mul(d, slope))
				VMOVUPS(Add(d, f.row("DV")), f.row("DV"))
				if brief {
					f.sign(positive)
				} else {
					f.put(d)
				}
			}})
		})
	}
	if brief {
		body()
	} else {
		f.setting(body)
	}
}

// places finds where an edge's pairs of numbers go, and its signs.
func (f *edgeRows) places() {
	place, at := f.at["Places"], GP64()
	pairs, signs := GP64(), GP64()
	MOVLQSX(Mem{Base: place}, at)
	ADDQ(Imm(4), place)
	MOVQ(at, signs)
	IMULQ(f.Field("H"), at)
	MOVQ(f.Field("Z"), pairs)
	LEAQ(Mem{Base: pairs, Index: at, Scale: 8}, pairs)
	IMULQ(f.Field("bytes"), signs)
	SHRQ(Imm(5), signs)
	ADDQ(f.Field("Signs"), signs)
	f.at["Z"], f.at["Signs"] = pairs, signs
}

// pair stores the two numbers of a head; of eight heads all at once, before the
// first.
func (f *edgeRows) pair() {
	// A head at a time: move two numbers.
	if !f.eight {
		for i, field := range []string{"C", "G"} {
			x := XMM()
			VMOVSS(Mem{Base: f.at[field]}, x)
			VMOVSS(x, Mem{Base: f.at["Z"], Disp: 4 * i})
		}
		ADDQ(Imm(8), f.at["Z"])
		return
	}
	if f.h > 0 {
		return
	}
	// Eight heads: interleave two registers.
	c, g := Get(Mem{Base: f.at["C"]}), Get(Mem{Base: f.at["G"]})
	low, high, front, back := YMM(), YMM(), YMM(), YMM()
	VUNPCKLPS(g, c, low)
	VUNPCKHPS(g, c, high)
	VPERM2F128(Imm(0x20), high, low, front)
	VPERM2F128(Imm(0x31), high, low, back)
	VMOVUPS(front, Mem{Base: f.at["Z"]})
	VMOVUPS(back, Mem{Base: f.at["Z"], Disp: 32})
}

// sign stores a bit for each lane.
func (f *edgeRows) sign(positive Vec) {
	bits := GP32()
	VMOVMSKPS(positive, bits)
	if f.eight {
		MOVB(bits.As8(), Mem{Base: f.at["Signs"], Disp: f.h})
		return
	}
	MOVB(bits.As8(), Mem{Base: f.at["Signs"]})
	INCQ(f.at["Signs"])
}

// sum writes EdgeRows.Sum:
//
//	DV[r,h,:] += C[e,h]·U[e,h,:]
func (f *edgeRows) sum() {
	f.edges(nil, []string{"DV"}, func() {
		var c Vec
		f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
			VMOVUPS(Plus(Get(f.row("DV")), c, f.row("U")), f.row("DV"))
		}})
	})
}

// spread writes EdgeRows.Spread:
//
//	Z[e,h,:] = C[e,h]·V[r,h,:]    or is added to
func (f *edgeRows) spread() {
	f.setting(func() {
		f.edges([]string{"Z"}, []string{"V"}, func() {
			var c Vec
			f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
				f.put(Mul(c, f.row("V")))
			}})
		})
	})
}

// dots writes EdgeRows.Dots:
//
//	G[e,h] = Σ_j U[e,h,j]·V[r,h,j]
func (f *edgeRows) dots() {
	f.edges(nil, []string{"V"}, func() {
		f.sums("G", []string{"G"}, nil, func(acc Vec) Vec { return product(acc, Get(f.row("U")), f.row("V")) })
	})
}

// affine writes EdgeRows.Affine:
//
//	Z[e,h,:] = C[e,h]·U[e,h,:] + V[r,h,:]
func (f *edgeRows) affine() {
	f.edges([]string{"Z"}, []string{"V"}, func() {
		var c Vec
		f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
			VMOVUPS(Plus(Get(f.row("V")), c, f.row("U")), f.row("Z"))
		}})
	})
}

// affineGrad writes EdgeRows.AffineGrad:
//
//	Z[e,h,:] = C[e,h]·D[e,h,:]    G[e,h] = Σ_j U[e,h,j]·D[e,h,j]    DV[r,h,:] += D[e,h,:]
func (f *edgeRows) affineGrad() {
	f.setting(func() {
		f.edges([]string{"Z", "D"}, []string{"DV"}, func() {
			f.claim()
			var c Vec
			f.sums("G", []string{"C", "G"}, func() { c = f.number("C") }, func(acc Vec) Vec {
				d := Get(f.row("D"))
				f.put(Mul(c, d))
				VMOVUPS(Add(d, f.row("DV")), f.row("DV"))
				return product(acc, d, f.row("U"))
			})
		})
	})
}
