package columns

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Code is a column of features that holds the number of a word, for which networks learn a row: 0 is a word that was not seen
// or none, and 1 the first.
type Code struct {
	At    int `json:"at"`    // the column of the features
	Words int `json:"words"` // how many there are, without 0
}

// PlacesOf returns the columns of codes.
func PlacesOf(codes []Code) []int {
	var at []int
	for _, c := range codes {
		at = append(at, c.At)
	}
	return at
}

// many reports whether the column has several numbers a row.
func (c *Column) many() bool { return c.As == AsMatrix || c.As == AsCode && c.Type == form.Many }

// codes returns which of the features of the column are codes, the first of which is at a place.
func (c *Column) codes(at int) (codes []Code) {
	switch {
	case c.As == AsMatrix:
		for _, k := range c.Codes {
			codes = append(codes, Code{at + k.At, k.Words})
		}
	case c.As == AsCode && c.Type == form.Many:
		for j, values := range c.Values {
			codes = append(codes, Code{at + j, len(values)})
		}
	case c.As == AsCode:
		codes = []Code{{at, len(c.Words)}}
	}
	return codes
}

// wholeMost is up to which size whole numbers are codes: all of them are told apart as float32.
const wholeMost = exactMost

// fitCodes finds the whole numbers that each column of a matrix has twice in the rows that train, as fitWords finds words.
func (c *Column) fitCodes(t *form.Table, col *form.Column, train []int32) (err error) {
	m := col.Matrix
	c.Width, c.Names, c.Values = m.Cols, m.Names, make([][]int32, m.Cols)
	counts := make([]map[int32]int, m.Cols)
	for j := range counts {
		counts[j] = map[int32]int{}
	}
	different := 0
	each(train, t.Rows, func(row int) {
		for j, v := range m.Values[row*m.Cols:][:m.Cols] {
			if err != nil {
				return
			}
			k, whole := wholeOf(v)
			if !whole {
				err = c.at(t, row, "%v, number %d of the row, is no whole number, as codes are: leave --column %s=%s out", v, j, c.Name, AsCode)
				return
			}
			if counts[j][k]++; counts[j][k] == 1 {
				if different++; different > wordsAsked {
					err = c.at(t, row, "%v, number %d of the row, is one more whole number than the %d that are told apart: leave --column %s=%s out", v, j, wordsAsked, c.Name, AsCode)
				}
			}
		}
	})
	for j, of := range counts {
		c.Values[j] = []int32{}
		for k, n := range of {
			if n > 1 {
				c.Values[j] = append(c.Values[j], k)
			}
		}
		slices.Sort(c.Values[j])
	}
	return err
}

// wholeOf returns a whole number that is a code.
func wholeOf(v tensor.Float) (k int32, ok bool) {
	f := float64(v)
	if f != math.Trunc(f) || f < -wholeMost || f > wholeMost {
		return 0, false
	}
	return int32(f), true
}

// encodeCodes gives each whole number of a matrix its place among those that were fitted, from 1; 0 is any other.
func (a *applier) encodeCodes(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	m := col.Matrix
	if m.Offsets != nil {
		return fmt.Errorf("%s: the column %.40q has %d numbers a row, most of them zeros; the model reads it as %s", where(t), c.Name, m.Cols, c.says())
	}
	x, unseen, first := tensor.New(t.Rows, m.Cols), 0, -1
	of := make([]map[int32]int, m.Cols)
	for j, values := range c.Values {
		of[j] = make(map[int32]int, len(values))
		for i, k := range values {
			of[j][k] = i + 1
		}
	}
	for i, v := range m.Values {
		if k, whole := wholeOf(v); whole {
			x.Data[i] = tensor.Float(of[i%m.Cols][k])
		}
		if x.Data[i] == 0 {
			if unseen++; first < 0 {
				first = i
			}
		}
	}
	if n := len(m.Values); 2*unseen > n && n >= unseenLeast {
		row := first / m.Cols
		if unseen == n {
			return c.at(t, row, "%v and all other %d numbers of the column are new to the model, which reads it as %s: is it another column?", m.Values[first], n-1, c.says())
		}
		a.warn("%d of %d numbers of column %.40q (%s) are none that the model knows, such as %v in %s: they count as none", unseen, n, c.Name, fileOf(t, c.Name), m.Values[first], lineOf(t, c.Name, row))
	}
	e.matrix = x
	return nil
}

// checkCodes checks the codes of a matrix, and what those of a matrix may be made of.
func (c *Column) checkCodes(fitted bool) error {
	if c.As == AsMatrix && len(c.Codes) > 0 {
		for i, k := range c.Codes {
			if k.At < 0 || k.At >= c.Width || k.Words < 0 || k.Words > wordsAsked || i > 0 && c.Codes[i-1].At >= k.At {
				return fmt.Errorf("code %d is of %d words, in column %d of %d", i, k.Words, k.At, c.Width)
			}
		}
		return nil
	}
	if many := c.As == AsCode && c.Type == form.Many; !many {
		if len(c.Values)+len(c.Codes) > 0 {
			return fmt.Errorf("it is a %s, and has codes of a matrix", c.As)
		}
		return nil
	}
	if c.Width < 0 || c.Width > columnsMost || fitted && len(c.Values) != c.Width || len(c.Names) > 0 && len(c.Names) != c.Width || len(c.Words)+len(c.Codes) > 0 {
		return fmt.Errorf("%d codes a row, %d names, and whole numbers of %d", c.Width, len(c.Names), len(c.Values))
	}
	all := 0
	for j, values := range c.Values {
		for i, k := range values {
			if k < -wholeMost || k > wholeMost || i > 0 && values[i-1] >= k {
				return fmt.Errorf("whole number %d of code %d, %d, is not after the one before", i, j, k)
			}
		}
		all += len(values)
	}
	if all > wordsAsked {
		return fmt.Errorf("%d whole numbers; want at most %d", all, wordsAsked)
	}
	return nil
}

// wordsOf is how many words the codes of a column have together.
func (c *Column) wordsOf() (n int) {
	for _, k := range c.codes(0) {
		n += k.Words
	}
	return n
}
