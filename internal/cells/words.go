package cells

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// textCells are the cells of a column in a block as texts: each different one once, or one a row.
type textCells struct {
	codes []int32 // of each row, -1 where the cell is empty; nil: a text a row
	ends  []uint32
	arena string
}

// at returns a text by its number.
func (t *textCells) at(i int) string {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.arena[from:t.ends[i]]
}

// row returns the text of a row.
func (t *textCells) row(i int) string {
	if t.codes == nil {
		return t.at(i)
	}
	if c := t.codes[i]; c >= 0 {
		return t.at(int(c))
	}
	return ""
}

// seed is that of all hashes. Nothing that is read depends on it.
var seed = maphash.MakeSeed()

// Dict numbers texts in the order in which they turn up.
type Dict struct {
	slots  []int32 // number + 1 of a text, 0: nothing; a power of two of them
	hashes []uint32
	ends   []int
	text   []byte
}

// reset empties d.
func (d *Dict) reset() {
	clear(d.slots)
	d.hashes, d.ends, d.text = d.hashes[:0], d.ends[:0], d.text[:0]
}

func (d *Dict) len() int { return len(d.ends) }

// at returns a text by its number.
func (d *Dict) at(i int) []byte {
	from := 0
	if i > 0 {
		from = d.ends[i-1]
	}
	return d.text[from:d.ends[i]]
}

// slotOf returns where a text is or would be.
func slotOf[T string | []byte](d *Dict, text T, hash uint64) int {
	mask := len(d.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		k := d.slots[i]
		if k == 0 || d.hashes[k-1] == uint32(hash>>32) && string(d.at(int(k-1))) == string(text) {
			return i
		}
	}
}

// Code returns the number of a text, a new one if it has none.
func (d *Dict) Code(text []byte) int32 { return codeOf(d, text, maphash.Bytes(seed, text)) }

// CodeText is Code of a string.
func (d *Dict) CodeText(text string) int32 { return codeOf(d, text, maphash.String(seed, text)) }

func codeOf[T string | []byte](d *Dict, text T, hash uint64) int32 {
	if 2*len(d.ends) >= len(d.slots) {
		d.grow()
	}
	i := slotOf(d, text, hash)
	if d.slots[i] == 0 {
		d.text = append(d.text, text...)
		d.ends, d.hashes = append(d.ends, len(d.text)), append(d.hashes, uint32(hash>>32))
		d.slots[i] = int32(len(d.ends))
	}
	return d.slots[i] - 1
}

// Find returns the number of a text, -1 if it has none.
func (d *Dict) Find(text string) int32 {
	if len(d.slots) == 0 {
		return -1
	}
	return d.slots[slotOf(d, text, maphash.String(seed, text))] - 1
}

// Reserve makes room for n different texts in a Dict that is empty.
func (d *Dict) Reserve(n int) {
	for len(d.ends) == 0 && 2*n >= len(d.slots) {
		d.slots = make([]int32, max(64, 4*len(d.slots)))
	}
	d.hashes, d.ends = slices.Grow(d.hashes, n), slices.Grow(d.ends, n)
}

// grow makes room.
func (d *Dict) grow() {
	d.slots = make([]int32, max(64, 4*len(d.slots)))
	mask := len(d.slots) - 1
	for k := range d.ends {
		i := int(maphash.Bytes(seed, d.at(k))) & mask
		for d.slots[i] != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = int32(k + 1)
	}
}

// Strings returns the texts, which share an array.
func (d *Dict) Strings() []string {
	all := string(d.text)
	out := make([]string, len(d.ends))
	from := 0
	for i, end := range d.ends {
		out[i], from = all[from:end], end
	}
	return out
}

// ID returns "7" of "7.0" and "-7" of "-7.0", as pandas writes whole numbers beside gaps, and any other id as it is.
func ID[T string | []byte](id T) T {
	n := len(id) - 2
	if n < 1 || id[n] != '.' || id[n+1] != '0' || id[n-1]-'0' > 9 {
		return id
	}
	for i := range n {
		if id[i]-'0' > 9 && (i > 0 || id[i] != '-') {
			return id
		}
	}
	return id[:n]
}

// repeatedLeast is how many different texts a column has at most that is always kept as numbers of texts.
const repeatedLeast = 1 << 12

// piece is the cells of a column in a block: scalars, or else texts.
type piece struct {
	rows    int
	scalars *scalars
	texts   *textCells
}

// merged returns the texts of a column, whose pieces it uses up. With numbered each different text stands
// once even if most texts are different.
func merged(pieces []piece, rows int, numbered bool) *Words {
	if !numbered && mostlyDistinct(pieces, rows) {
		return plainTexts(pieces, rows)
	}
	d, codes := new(Dict), make([]int32, 0, rows)
	for k, p := range pieces {
		if p.texts == nil || p.texts.codes == nil {
			p.each(func(text []byte) bool {
				c := int32(-1)
				if len(text) > 0 {
					c = d.Code(text)
				}
				codes = append(codes, c)
				return true
			})
		} else {
			of := make([]int32, len(p.texts.ends))
			for i := range of {
				of[i] = d.CodeText(p.texts.at(i))
			}
			for _, c := range p.texts.codes {
				if c >= 0 {
					c = of[c]
				}
				codes = append(codes, c)
			}
		}
		pieces[k] = piece{}
	}
	return &Words{Texts: d.Strings(), Codes: codes}
}

// each calls f with the text of each row, "" where it is empty, until it says false.
func (p *piece) each(f func(text []byte) bool) bool {
	var room []byte
	for row := range p.rows {
		if p.texts != nil {
			room = append(room[:0], p.texts.row(row)...)
		} else {
			room = p.scalars.appendText(room[:0], row)
		}
		if !f(room) {
			return false
		}
	}
	return true
}

// mostlyDistinct reports whether more than half of a column's rows have texts of their own.
func mostlyDistinct(pieces []piece, rows int) bool {
	most := 0 // as many as there may be
	for _, p := range pieces {
		if p.texts != nil && p.texts.codes != nil {
			most += len(p.texts.ends)
		} else {
			most += p.rows
		}
	}
	least := max(repeatedLeast, rows/2) + 1
	if most < least {
		return false
	}
	// A set of hashes takes less than one of texts. Two texts in 2⁶⁴ have the same.
	slots, count := make([]uint64, 2<<bits.Len(uint(least))), 0
	add := func(text []byte) bool {
		if len(text) == 0 {
			return true
		}
		h := maphash.Bytes(seed, text) | 1
		i := int(h>>1) & (len(slots) - 1)
		for slots[i] != 0 && slots[i] != h {
			i = (i + 1) & (len(slots) - 1)
		}
		if slots[i] == 0 {
			slots[i] = h
			count++
		}
		return count < least
	}
	for _, p := range pieces {
		if p.texts != nil && p.texts.codes != nil {
			p = piece{rows: len(p.texts.ends), texts: &textCells{ends: p.texts.ends, arena: p.texts.arena}} // each once
		}
		if !p.each(add) {
			return true
		}
	}
	return false
}

// plainTexts is merged of a column with a text a row.
func plainTexts(pieces []piece, rows int) *Words {
	out := make([]string, 0, rows)
	for k, p := range pieces {
		n := p.rows
		t := p.texts
		if t == nil {
			var b strings.Builder
			var room []byte
			t = &textCells{ends: make([]uint32, n)}
			for row := range n {
				room = p.scalars.appendText(room[:0], row)
				b.Write(room)
				t.ends[row] = uint32(b.Len())
			}
			t.arena = b.String()
		}
		for row := range n {
			out = append(out, t.row(row))
		}
		pieces[k] = piece{}
	}
	return &Words{Texts: out}
}

// firsts returns of each text of Texts the first row, and how many rows there are.
func (w *Words) firsts() (first, count []int32) {
	first, count = make([]int32, len(w.Texts)), make([]int32, len(w.Texts))
	for row, c := range w.Codes {
		if c < 0 {
			continue
		}
		if count[c]++; count[c] == 1 {
			first[c] = int32(row)
		}
	}
	return first, count
}
