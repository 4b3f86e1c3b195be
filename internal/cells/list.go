package cells

import (
	"bytes"
	"encoding/binary"
	"iter"
	"regexp"
	"strings"
)

// List is the texts of a column while a file is read, row after row. They lie one behind another in
// pieces, so that an empty one takes a byte and none is copied as they grow.
type List struct {
	pieces [][]byte
	N      int // how many there are
}

// Add adds the cell of the next row.
func (c *List) Add(text []byte) {
	const piece = 1 << 12
	need := binary.MaxVarintLen64 + len(text)
	last := len(c.pieces) - 1
	if last < 0 || cap(c.pieces[last])-len(c.pieces[last]) < need {
		c.pieces = append(c.pieces, make([]byte, 0, max(need, min(1<<16, max(1<<8, piece*len(c.pieces))))))
		last++
	}
	c.pieces[last] = append(binary.AppendUvarint(c.pieces[last], uint64(len(text))), text...)
	c.N++
}

// Pad adds empty cells up to n rows.
func (c *List) Pad(n int) {
	for c.N < n {
		c.Add(nil)
	}
}

// all yields the rows and their cells, without the blanks around them. A cell stays as it is while c does.
func (c *List) all() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		row := 0
		for _, piece := range c.pieces {
			for len(piece) > 0 {
				n, k := binary.Uvarint(piece)
				if !yield(row, bytes.TrimSpace(piece[k:k+int(n)])) {
					return
				}
				piece = piece[k+int(n):]
				row++
			}
		}
	}
}

// Typed makes a column of cells by the rules of tables. As words they are not numbers, though they may look like some, and yet
// times that are written out are times where the name says when.
func Typed(name string, c *List, words bool, o *Origin) Column {
	p := piece{rows: c.N, scalars: new(scalars)}
	w := whenOf(name)
	for row, text := range c.all() {
		if !p.scalars.cell(row, c.N, text, w) {
			p.scalars = nil
			break
		}
	}
	as := AsTyped
	if words && (w == never || p.scalars == nil || p.scalars.numbers > 0) && (p.scalars == nil || p.scalars.numbers+p.scalars.times+p.scalars.gone > 0) {
		as, p.scalars = AsWords, nil
	}
	if p.scalars == nil {
		d := new(Dict)
		p.texts = &textCells{codes: make([]int32, c.N)}
		for row, text := range c.all() {
			if p.texts.codes[row] = -1; !IsEmpty(text) {
				p.texts.codes[row] = d.Code(text)
			}
		}
		for _, end := range d.ends {
			p.texts.ends = append(p.texts.ends, uint32(end))
		}
		p.texts.arena = string(d.text)
	}
	return settled(name, as, []piece{p}, c.N, o)
}

// missingWord reports whether a text is what programs write where a number is not known.
func missingWord(text []byte) bool {
	switch strings.ToLower(string(text)) {
	case "na", "n/a", "<na>", "null", "none", "nil":
		return true
	}
	return false
}

// dressed are numbers as people write them: 50%, 1,041, 3,5 or $20. As words they would be a
// category each. dressedDate are dates as people write them: 05/19/2024 or 19.5.2024 12:30.
var (
	dressed     = regexp.MustCompile(`^[+-]?[$€£]? ?(\d{1,3}([ ,'’]\d{3})+(\.\d+)?|\d+([.,]\d+)?) ?[%‰$€£]?$`)
	dressedDate = regexp.MustCompile(`^\d{1,2}([./-])\d{1,2}([./-])[12]\d{3}([ T,]+\d{1,2}:\d{2}.*)?$`)
)

// isDressed reports whether a text that is no number is one written for people, or a date.
func isDressed(text []byte) bool {
	return len(text) < 40 && bytes.ContainsAny(text, "0123456789") && (dressed.Match(text) || dressedDate.Match(text))
}
