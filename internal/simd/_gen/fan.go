package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fans writes the kernels of simd.Fan: one for heads of any number of registers,
// and one for eight heads of one.
func fans() {
	for _, eight := range []bool{false, true} {
		newFan("Score", eight, "V", "A", "C").score()
		newFan("ScoreGrad", eight, "V", "A", "C", "Z", "DV").scoreGrad(false)
		newFan("ScoreDots", eight, "V", "A", "C", "G", "R").scoreDots()
		newFan("ScoreBrief", eight, "V", "A", "C", "DV", "G", "Places").scoreGrad(true)
		newFan("Sum", eight, "C", "DV").sum()
		newFan("Spread", eight, "V", "C", "Z").spread()
		newFan("Dots", eight, "V", "G").dots()
		newFan("Affine", eight, "V", "C", "Z").affine()
		newFan("AffineGrad", eight, "C", "Z", "D", "G", "DV").affineGrad()
	}
}

// fan is a kernel on a simd.Fan.
type fan struct {
	args
	eight bool
	at    map[string]reg.GPVirtual // the arrays' pointers, by their fields
	j     reg.GPVirtual            // where in a row, in bytes
	disp  int                      // and the same, where heads are written one by one
	h     int                      // the head there
	more  bool                     // Z is added to
	last  func()                   // what follows the last edge
}

func newFan(name string, eight bool, fields ...string) *fan {
	kernel, of := "edgeRows"+name, "."
	if eight {
		kernel, of = kernel+"8", " of eight heads of eight elements."
	}
	f := &fan{eight: eight, at: map[string]reg.GPVirtual{}}
	f.args = startOn("EdgeRows", kernel, "", kernel+" is EdgeRows."+name+of)
	for _, field := range fields {
		f.at[field] = GP64()
		MOVQ(f.field(field), f.at[field])
	}
	return f
}

// pointer is an array's. One that goes along no loop may be read anew.
func (f *fan) pointer(field string) reg.GPVirtual {
	if at := f.at[field]; at != nil {
		return at
	}
	at := GP64()
	MOVQ(f.field(field), at)
	return at
}

// row is the next elements of an array's row.
func (f *fan) row(field string) Mem {
	m := Mem{Base: f.pointer(field), Disp: f.disp}
	if f.j != nil {
		m.Index, m.Scale = f.j, 1
	}
	return m
}

// number is that of the head, in all lanes.
func (f *fan) number(field string) vec {
	v := YMM()
	VBROADCASTSS(Mem{Base: f.at[field], Disp: 4 * f.h}, v)
	return v
}

// slope is that of the negative.
func (f *fan) slope() vec {
	v := YMM()
	VBROADCASTSS(f.field("Slope"), v)
	return v
}

// setting writes a kernel twice: for a Z that is set, and one that is added to.
func (f *fan) setting(body func()) {
	more := fresh("more")
	CMPB(f.field("Add"), Imm(0))
	JNE(LabelRef(more))
	body()
	Label(more)
	f.more = true
	body()
}

// put stores v in Z, or adds it.
func (f *fan) put(v vec) {
	if f.more {
		v = add(v, f.row("Z"))
	}
	VMOVUPS(v, f.row("Z"))
}

// edges writes the loop over destinations and their edges. perEdge are the arrays
// with a row for each edge, perRow those with one for each destination.
func (f *fan) edges(perEdge, perRow []string, body func()) {
	row, edge, next, done := fresh("row"), fresh("edge"), fresh("next"), fresh("done")
	offs, k := GP64(), GP64()
	MOVQ(f.field("Offsets"), offs)
	f.at["U"] = GP64()
	Label(row)
	DECQ(f.field("left"))
	JL(LabelRef(done))
	MOVQ(Mem{Base: offs}, k)
	CMPQ(k, Mem{Base: offs, Disp: 8})
	JGE(LabelRef(next))
	Label(edge)
	f.source(k, f.at["U"])
	f.fetch(k)
	body()
	for _, a := range perEdge {
		ADDQ(f.field("bytes"), f.at[a])
	}
	INCQ(k)
	CMPQ(k, Mem{Base: offs, Disp: 8})
	JL(LabelRef(edge))
	Label(next)
	for _, a := range perRow {
		ADDQ(f.field("bytes"), f.at[a])
	}
	ADDQ(Imm(8), offs)
	JMP(LabelRef(row))
	Label(done)
	if f.last != nil {
		f.last()
	}
	finish()
}

// source sets at to the row of edge k's source.
func (f *fan) source(k, at reg.GPVirtual) {
	cols := GP64()
	MOVQ(f.field("Cols"), cols)
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	IMULQ(f.field("bytes"), at)
	ADDQ(f.field("U"), at)
}

// fetch asks for the row of the source of an edge some way ahead, and again for that
// of one that is soon read.
func (f *fan) fetch(k reg.GPVirtual) {
	none, line := fresh("near"), fresh("line")
	far, near, end := GP64(), GP64(), GP64()
	MOVQ(f.field("ahead"), far)
	TESTQ(far, far)
	JZ(LabelRef(none))
	ADDQ(k, far)
	CMPQ(far, f.field("last"))
	JG(LabelRef(none))
	f.source(far, far)
	LEAQ(Mem{Base: k, Disp: nearAhead}, near)
	f.source(near, near)
	if f.eight {
		for l := range 4 {
			PREFETCHT1(Mem{Base: far, Disp: lineBytes * l})
			PREFETCHT0(Mem{Base: near, Disp: lineBytes * l})
		}
		Label(none)
		return
	}
	MOVQ(far, end)
	ADDQ(f.field("bytes"), end)
	Label(line)
	PREFETCHT1(Mem{Base: far})
	PREFETCHT0(Mem{Base: near})
	ADDQ(Imm(lineBytes), far)
	ADDQ(Imm(lineBytes), near)
	CMPQ(far, end)
	JL(LabelRef(line))
	Label(none)
}

// claim asks for the lines of the row of Z that some edges later will be written, as
// its own: another processor may have them, which has read what was there.
func (f *fan) claim() {
	row, end, line := GP64(), GP64(), fresh("claim")
	MOVQ(f.field("bytes"), end)
	MOVQ(end, row)
	SHLQ(Imm(3), row) // nearAhead rows
	ADDQ(f.at["Z"], row)
	ADDQ(row, end)
	Label(line)
	prefetchToWrite(row)
	ADDQ(Imm(lineBytes), row)
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
func (f *fan) heads(b headed) {
	do := func(part func()) {
		if part != nil {
			part()
		}
	}
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
	head := fresh("head")
	end := GP64()
	f.j = GP64()
	XORQ(f.j, f.j)
	Label(head)
	MOVQ(f.field("Width"), end)
	LEAQ(Mem{Base: f.j, Index: end, Scale: 4}, end)
	do(b.open)
	four, one, over := fresh("four"), fresh("one"), fresh("over")
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
	CMPQ(f.j, f.field("bytes"))
	JL(LabelRef(head))
	f.j = nil
}

// sums is heads of a kernel whose result is the sum of each head's terms.
func (f *fan) sums(field string, numbers []string, open func(), term func(acc vec) vec) {
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
		shut:    func() { VMOVSS(across(acc), Mem{Base: f.at[field]}) },
		numbers: numbers,
	})
}

// product is x·m, added to acc if there is one.
func product(acc, x vec, m Op) vec {
	if acc == nil {
		return mul(x, m)
	}
	return plus(acc, x, m)
}

// totaller sums the lanes of eight registers, which it takes one by one, and
// holds few of them.
type totaller struct{ ones, twos, fours []vec }

func (t *totaller) take(v vec) {
	t.ones = append(t.ones, v)
	for _, level := range []struct{ from, to *[]vec }{{&t.ones, &t.twos}, {&t.twos, &t.fours}} {
		if x := *level.from; len(x) == 2 {
			*level.from, *level.to = nil, append(*level.to, pairwise(x[0], x[1]))
		}
	}
}

// totals are the sums, in the order of the registers.
func (t *totaller) totals() vec { return halves(t.fours[0], t.fours[1]) }

// ends is the sum of what stands at both ends of an edge.
func (f *fan) ends() vec { return add(get(f.row("U")), f.row("V")) }

func (f *fan) score() {
	slope := f.slope()
	f.edges(nil, []string{"V"}, func() {
		f.sums("C", []string{"C"}, nil, func(acc vec) vec {
			l, _ := leaky(f.ends(), slope)
			return product(acc, l, f.row("A"))
		})
	})
}

// scoreDots has two sums for each head, of one source's row.
func (f *fan) scoreDots() {
	slope := f.slope()
	f.edges(nil, []string{"V", "R"}, func() {
		terms := func(score, dot vec) (vec, vec) {
			u := get(f.row("U"))
			l, _ := leaky(add(u, f.row("V")), slope)
			return product(score, l, f.row("A")), product(dot, u, f.row("R"))
		}
		numbers := []string{"C", "G"}
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
		score, dot := YMM(), YMM()
		f.heads(headed{
			open: func() {
				VXORPS(score, score, score)
				VXORPS(dot, dot, dot)
			},
			step: func() { terms(score, dot) },
			shut: func() {
				VMOVSS(across(score), Mem{Base: f.at["C"]})
				VMOVSS(across(dot), Mem{Base: f.at["G"]})
			},
			numbers: numbers,
		})
	})
}

// scoreGrad keeps the gradient of A in registers where there are eight of them.
// brief is ScoreBrief.
func (f *fan) scoreGrad(brief bool) {
	slope := f.slope()
	body := func() {
		var da [8]vec
		if f.eight {
			at := f.pointer("DA")
			for h := range da {
				da[h] = get(Mem{Base: at, Disp: 32 * h})
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
			var g vec
			open := func() {
				if g = f.number("C"); brief {
					f.pair()
				}
			}
			f.heads(headed{numbers: numbers, open: open, step: func() {
				l, positive := leaky(f.ends(), slope)
				if f.eight {
					da[f.h] = plus(da[f.h], g, l)
				} else {
					at := f.row("DA")
					VMOVUPS(plus(get(at), g, l), at)
				}
				d := mul(g, f.row("A"))
				d = pick(positive, d, mul(d, slope))
				VMOVUPS(add(d, f.row("DV")), f.row("DV"))
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
func (f *fan) places() {
	place, at := f.at["Places"], GP64()
	pairs, signs := GP64(), GP64()
	MOVLQSX(Mem{Base: place}, at)
	ADDQ(Imm(4), place)
	MOVQ(at, signs)
	IMULQ(f.field("H"), at)
	MOVQ(f.field("Z"), pairs)
	LEAQ(Mem{Base: pairs, Index: at, Scale: 8}, pairs)
	IMULQ(f.field("bytes"), signs)
	SHRQ(Imm(5), signs)
	ADDQ(f.field("Signs"), signs)
	f.at["Z"], f.at["Signs"] = pairs, signs
}

// pair stores the two numbers of a head; of eight heads all at once, before the
// first.
func (f *fan) pair() {
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
	c, g := get(Mem{Base: f.at["C"]}), get(Mem{Base: f.at["G"]})
	low, high, front, back := YMM(), YMM(), YMM(), YMM()
	VUNPCKLPS(g, c, low)
	VUNPCKHPS(g, c, high)
	VPERM2F128(Imm(0x20), high, low, front)
	VPERM2F128(Imm(0x31), high, low, back)
	VMOVUPS(front, Mem{Base: f.at["Z"]})
	VMOVUPS(back, Mem{Base: f.at["Z"], Disp: 32})
}

// sign stores a bit for each lane.
func (f *fan) sign(positive vec) {
	bits := GP32()
	VMOVMSKPS(positive, bits)
	if f.eight {
		MOVB(bits.As8(), Mem{Base: f.at["Signs"], Disp: f.h})
		return
	}
	MOVB(bits.As8(), Mem{Base: f.at["Signs"]})
	INCQ(f.at["Signs"])
}

func (f *fan) sum() {
	f.edges(nil, []string{"DV"}, func() {
		var c vec
		f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
			VMOVUPS(plus(get(f.row("DV")), c, f.row("U")), f.row("DV"))
		}})
	})
}

func (f *fan) spread() {
	f.setting(func() {
		f.edges([]string{"Z"}, []string{"V"}, func() {
			var c vec
			f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
				f.put(mul(c, f.row("V")))
			}})
		})
	})
}

func (f *fan) dots() {
	f.edges(nil, []string{"V"}, func() {
		f.sums("G", []string{"G"}, nil, func(acc vec) vec { return product(acc, get(f.row("U")), f.row("V")) })
	})
}

func (f *fan) affine() {
	f.edges([]string{"Z"}, []string{"V"}, func() {
		var c vec
		f.heads(headed{numbers: []string{"C"}, open: func() { c = f.number("C") }, step: func() {
			VMOVUPS(plus(get(f.row("V")), c, f.row("U")), f.row("Z"))
		}})
	})
}

func (f *fan) affineGrad() {
	f.setting(func() {
		f.edges([]string{"Z", "D"}, []string{"DV"}, func() {
			f.claim()
			var c vec
			f.sums("G", []string{"C", "G"}, func() { c = f.number("C") }, func(acc vec) vec {
				d := get(f.row("D"))
				f.put(mul(c, d))
				VMOVUPS(add(d, f.row("DV")), f.row("DV"))
				return product(acc, d, f.row("U"))
			})
		})
	})
}
