package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// codeWidth is how wide the learnt row of a word is: as wide as there are words, up to 16. So a code of few words can tell as much as a
// feature for each of them, and one of thousands takes 16 numbers a word.
const codeWidth = 16

// fewColumns is how many columns stand beside learnt rows as they are. More of them, such as those of a text, are brought to so many by a
// matrix, or to as many as the first layer is wide if that is more: learnt rows are dense, and so is what stands beside them.
const fewColumns = 64

// coded is what a network makes of columns that hold codes, before its first layer: in place of each column the row that it has learnt for
// the word, which comes after the other columns, and zeros for 0 and for a number that is no word's. The rows of several columns stand side by
// side; the first layer multiplies each by a part of its matrix and adds them up.
//
// A row begins with a norm of about 1, as a feature for each word has.
type coded struct {
	Rows   []*grad.Param // of each column of codes: a row for each word
	Narrow *grad.Param   // of the other columns; nil: there are few

	codes []columns.Code
	plain []int32 // the other columns
	width int     // of what they are read from

	mu   sync.Mutex
	last [2]*codesOf // of sparse features, which are those of all steps
}

// tableOf is how many rows are learnt of a code, and how wide they are. One without words has a row that nothing reads.
func tableOf(c columns.Code) (rows, width int) {
	return max(1, c.Words), max(1, min(c.Words, codeWidth))
}

// codedWidth is how wide the result is of so many columns, and what the other columns are brought to; 0: they stand as they are.
func codedWidth(width int, codes []columns.Code, first int) (out, narrow int) {
	if len(codes) == 0 {
		return width, 0
	}
	out = width - len(codes)
	if most := max(fewColumns, first); out > most {
		out, narrow = most, most
	}
	for _, c := range codes {
		_, wide := tableOf(c)
		out += wide
	}
	return out, narrow
}

// codedNumbers is how many numbers the learnt rows and the matrix have.
func codedNumbers(width int, codes []columns.Code, first int) int64 {
	_, narrow := codedWidth(width, codes, first)
	total := int64(width-len(codes)) * int64(narrow)
	for _, c := range codes {
		rows, wide := tableOf(c)
		total += int64(rows) * int64(wide)
	}
	return total
}

// checkCodes returns an error for codes that cannot be those of so many columns.
func checkCodes(codes []columns.Code, width int, of string) error {
	const most = 1 << 24
	for i, c := range codes {
		if c.At < 0 || c.At >= width || c.Words < 0 || c.Words > most || i > 0 && codes[i-1].At >= c.At {
			return fmt.Errorf("models: code %d is of %d words, in column %d of the %d features of %s: want from 0 to %d words, and columns that ascend", i, c.Words, c.At, width, of, most)
		}
	}
	return nil
}

// newCoded returns what reads so many columns; nil: none of them is a code.
func newCoded(rng *rand.Rand, width int, codes []columns.Code, first int) *coded {
	if len(codes) == 0 {
		return nil
	}
	m := &coded{codes: codes, width: width}
	for _, c := range codes {
		rows, wide := tableOf(c)
		p := grad.NewParam(rows, wide)
		p.Value.Normal(rng, 0, 1/math.Sqrt(float64(wide)))
		m.Rows = append(m.Rows, p)
	}
	for j, k := 0, 0; j < width; j++ {
		if k < len(codes) && codes[k].At == j {
			k++
		} else {
			m.plain = append(m.plain, int32(j))
		}
	}
	if _, narrow := codedWidth(width, codes, first); narrow > 0 {
		m.Narrow = grad.Glorot(rng, len(m.plain), narrow)
	}
	return m
}

// codesOf are the words of the rows of features.
type codesOf struct {
	x     tensor.Array
	rows  [][]int32       // of each code the rows of its table; 0 where there is no word
	there []*tensor.Dense // of each code a column of 1, and of 0 where there is no word; nil: there is one everywhere
	few   *tensor.Dense   // the other columns of sparse features, if they are few
}

// read returns x with learnt rows in place of its codes.
func (m *coded) read(t *grad.Tape, x *grad.Var) *grad.Var {
	if m == nil || x == nil {
		return x
	}
	defer t.Label("the codes")()
	c := m.of(x)
	parts := m.beside(t, x, c)
	for i, table := range m.Rows {
		rows := t.Use(table).Rows(c.rows[i])
		if c.there[i] != nil {
			rows = rows.Mul(grad.Const(c.there[i]))
		}
		parts = append(parts, rows)
	}
	return grad.Concat(parts...)
}

// masked is read of features in which a number stands in each column of a code that its learnt row is multiplied by, so that it can be
// weighed as any other feature. The words are c's.
func (m *coded) masked(t *grad.Tape, x *grad.Var, c *codesOf) *grad.Var {
	if m == nil {
		return x
	}
	parts := m.beside(t, x, c)
	for i, table := range m.Rows {
		at := m.codes[i].At
		parts = append(parts, t.Use(table).Rows(c.rows[i]).Mul(x.Columns(at, at+1)))
	}
	return grad.Concat(parts...)
}

// beside returns what stands beside the learnt rows, in a list that has room for them.
func (m *coded) beside(t *grad.Tape, x *grad.Var, c *codesOf) []*grad.Var {
	parts := make([]*grad.Var, 0, len(m.Rows)+1)
	switch {
	case m.Narrow != nil: // codes are multiplied by zeros
		return append(parts, x.MatMul(t.Use(m.Narrow).ScatterAdd(m.plain, m.width)))
	case len(m.plain) == 0:
		return parts
	case x.IsSparse():
		return append(parts, grad.Const(c.few))
	}
	for lo := 0; lo < len(m.plain); {
		hi := lo + 1
		for hi < len(m.plain) && m.plain[hi] == m.plain[hi-1]+1 {
			hi++
		}
		parts = append(parts, x.Columns(int(m.plain[lo]), int(m.plain[hi-1])+1))
		lo = hi
	}
	return parts
}

// of returns the words of features. Those of sparse ones are kept, since it takes a look at all nonzeros to find them.
func (m *coded) of(x *grad.Var) *codesOf {
	if !x.IsSparse() {
		return m.ofDense(x.Value())
	}
	a := x.Sparse()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.last {
		if c != nil && c.x == a {
			return c
		}
	}
	c := m.ofSparse(a)
	m.last[0], m.last[1] = c, m.last[0]
	return c
}

func (m *coded) ofDense(x *tensor.Dense) *codesOf {
	c, n := m.none(x, x.Rows()), x.RowLen()
	for i := range m.codes {
		for v := range c.rows[i] {
			c.set(m, i, v, x.Data[v*n+m.codes[i].At])
		}
	}
	return c.settled()
}

func (m *coded) ofSparse(a *sparse.CSR) *codesOf {
	c, at := m.none(a, a.NumRows), make([]int32, m.width) // of each column which code it is, from 1, or, below 0, which other
	for i, code := range m.codes {
		at[code.At] = int32(i + 1)
	}
	if m.Narrow == nil {
		c.few = tensor.New(a.NumRows, len(m.plain))
		for i, j := range m.plain {
			at[j] = int32(-i - 1)
		}
	}
	for v := range a.NumRows {
		cols, values := a.Row(v)
		for k, j := range cols {
			value := tensor.Float(1)
			if values != nil {
				value = values[k]
			}
			switch p := at[j]; {
			case p > 0:
				c.set(m, int(p-1), v, value)
			case p < 0:
				c.few.Row(v)[-p-1] += value
			}
		}
	}
	return c.settled()
}

// none are no words in n rows.
func (m *coded) none(x tensor.Array, n int) *codesOf {
	c := &codesOf{x: x}
	for range m.codes {
		c.rows, c.there = append(c.rows, make([]int32, n)), append(c.there, tensor.New(n, 1))
	}
	return c
}

// set takes the number of a word, if it is one.
func (c *codesOf) set(m *coded, i, row int, v tensor.Float) {
	if k := codeOf(v, m.codes[i].Words); k > 0 {
		c.rows[i][row], c.there[i].Data[row] = k-1, 1
	}
}

// codeOf returns the number of a word, from 1; 0: v is none of so many.
func codeOf(v tensor.Float, words int) int32 {
	if v >= 1 && v <= tensor.Float(words) && v == tensor.Float(math.Trunc(float64(v))) {
		return int32(v)
	}
	return 0
}

// settled leaves out what is 1 everywhere.
func (c *codesOf) settled() *codesOf {
	for i, x := range c.there {
		if !slices.Contains(x.Data, 0) {
			c.there[i] = nil
		}
	}
	return c
}

// gathered are the words of some rows.
func (c *codesOf) gathered(rows []int32) *codesOf {
	out := &codesOf{there: c.there}
	for _, of := range c.rows {
		some := make([]int32, len(rows))
		for i, r := range rows {
			some[i] = of[r]
		}
		out.rows = append(out.rows, some)
	}
	return out
}

// taken returns some elements; nil of nil.
func taken[S ~[]T, T any](x S, rows []int32) S {
	if x == nil {
		return nil
	}
	y := make(S, len(rows))
	for i, r := range rows {
		y[i] = x[r]
	}
	return y
}

// presence returns features in which 1 stands for each word, and 0 for none, which [coded.masked] reads.
func (m *coded) presence(x tensor.Array) tensor.Array {
	if m == nil {
		return x
	}
	words, is := make([]int, m.width), make([]bool, m.width)
	for _, c := range m.codes {
		words[c.At], is[c.At] = c.Words, true
	}
	there := func(j int, v tensor.Float) tensor.Float {
		if is[j] {
			return tensor.Float(min(1, codeOf(v, words[j])))
		}
		return v
	}
	if a, ok := x.(*sparse.CSR); ok {
		a.Settle()
		values := make([]tensor.Float, len(a.Cols))
		for k, j := range a.Cols {
			if values[k] = there(int(j), 1); a.Values != nil {
				values[k] = there(int(j), a.Values[k])
			}
		}
		return a.WithValues(values)
	}
	y := x.(*tensor.Dense).Clone()
	for i, v := range y.Data {
		y.Data[i] = there(i%m.width, v)
	}
	return y
}
