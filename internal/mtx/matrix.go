package mtx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// lineMost is the length of the longest line that is read.
const lineMost = 1 << 16

// Matrix is a list of the elements of a matrix. Those that a symmetric file
// leaves out are in it, and zeros that a file has are too.
type Matrix struct {
	Rows, Cols int
	Row, Col   []int32
	Values     []float64 // nil: every element of the list is 1
	Symmetric  bool      // as the header says
}

// elementTakes is what an element takes while a matrix is made of the list, in
// bytes.
const elementTakes = 48

// Read reads a matrix. An error names the line. Keep is called with the bytes that
// each element takes, and ends the reading by an error; nil stands for one that
// never does.
func Read(r io.Reader, keep func(bytes int) error) (*Matrix, error) {
	if keep == nil {
		keep = func(int) error { return nil }
	}
	p := &parser{r: bufio.NewReaderSize(r, lineMost), keep: keep}
	m, err := p.matrix()
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", max(1, p.line), err)
	}
	return m, nil
}

// parser reads a file line by line.
type parser struct {
	r    *bufio.Reader
	line int
	head header
	most int // elements that there can be
	keep func(bytes int) error
	m    Matrix
}

// next returns the next line that is neither empty nor a comment, io.EOF if there
// is none.
func (p *parser) next() (string, error) {
	for {
		b, err := p.r.ReadSlice('\n')
		if len(b) == 0 && err == io.EOF {
			return "", err
		}
		p.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("it is longer than %d bytes", lineMost)
		}
		if err != nil && err != io.EOF {
			return "", err
		}
		text := strings.TrimSpace(string(b))
		if p.line == 1 { // what some editors put before a text
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text != "" && (text[0] != '%' || p.line == 1) {
			return text, nil
		}
	}
}

func (p *parser) matrix() (*Matrix, error) {
	text, err := p.next()
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	if p.head, err = parseHeader(text); err != nil {
		return nil, err
	}
	p.m.Symmetric = p.head.symmetry == "symmetric"
	count, err := p.size()
	if err != nil {
		return nil, err
	}
	p.most = count
	if p.head.symmetry != "general" {
		p.most *= 2
	}
	for i := range count {
		if err := p.element(i, count); err != nil {
			return nil, err
		}
	}
	switch text, err := p.next(); {
	case err == nil:
		return nil, fmt.Errorf("%.40q follows the last of the %d elements", text, count)
	case err != io.EOF:
		return nil, err
	}
	return &p.m, nil
}

// size reads the line of sizes and returns the number of lines that follow.
func (p *parser) size() (int, error) {
	text, err := p.next()
	if err == io.EOF {
		err = errors.New("the file ends before the sizes")
	}
	if err != nil {
		return 0, err
	}
	words := strings.Fields(text)
	want, names := 3, "rows, columns and elements"
	if p.head.array {
		want, names = 2, "rows and columns"
	}
	n := make([]int, want)
	for i := range n {
		if len(words) == want {
			n[i], err = strconv.Atoi(words[i])
		}
		if len(words) != want || err != nil || n[i] < 0 || n[i] > math.MaxInt32 {
			return 0, fmt.Errorf("the sizes are %.60q, want the numbers of %s, each below 2³¹", text, names)
		}
	}
	p.m.Rows, p.m.Cols = n[0], n[1]
	if p.head.symmetry != "general" && n[0] != n[1] {
		return 0, fmt.Errorf("a %s matrix is square, not %d × %d", p.head.symmetry, n[0], n[1])
	}
	if !p.head.array {
		return n[2], nil
	}
	switch p.head.symmetry {
	case "symmetric":
		return n[0] * (n[0] + 1) / 2, nil
	case "skew-symmetric":
		return n[0] * (n[0] - 1) / 2, nil
	}
	return n[0] * n[1], nil
}

// element reads line i of count.
func (p *parser) element(i, count int) error {
	text, err := p.next()
	if err == io.EOF {
		return fmt.Errorf("the file ends after %d of %d elements", i, count)
	}
	if err != nil {
		return err
	}
	if p.head.array {
		return p.inTurn(text)
	}
	var words [4]string
	n := fields(text, words[:])
	want := 3
	if p.head.field == "pattern" {
		want = 2
	}
	if n != want {
		return fmt.Errorf("%.60q is not an element: want %s", text, []string{2: "a row and a column", 3: "a row, a column and a value"}[want])
	}
	row, err := place(words[0], "row", p.m.Rows)
	if err != nil {
		return err
	}
	col, err := place(words[1], "column", p.m.Cols)
	if err != nil {
		return err
	}
	if p.head.symmetry != "general" && col > row {
		return fmt.Errorf("the element (%d, %d) is above the diagonal: a %s file holds those below", row+1, col+1, p.head.symmetry)
	}
	if p.head.symmetry == "skew-symmetric" && col == row {
		return fmt.Errorf("the element (%d, %d) is on the diagonal, which is zero in a skew-symmetric matrix", row+1, col+1)
	}
	value := 1.0
	if want == 3 {
		if value, err = p.value(words[2]); err != nil {
			return err
		}
	}
	return p.add(row, col, value)
}

// fields puts the first words of a line into words and returns how many there
// are, up to one more than there is room for.
func fields(text string, words []string) int {
	n := 0
	for w := range strings.FieldsSeq(text) {
		if n == len(words) {
			return n + 1
		}
		words[n] = w
		n++
	}
	return n
}

// place returns the row or the column that a word is, from 0.
func place(word, what string, n int) (int32, error) {
	i, err := strconv.Atoi(word)
	if err != nil || i < 1 || i > n {
		return 0, fmt.Errorf("%s %.40q: they are 1 to %d", what, word, n)
	}
	return int32(i - 1), nil
}

func (p *parser) value(word string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if p.head.field == "integer" && err == nil && v != math.Trunc(v) {
		err = strconv.ErrSyntax
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%.40q is not the value of an element: want a finite %s number", word, p.head.field)
	}
	return v, nil
}

// inTurn adds the next element of an array: down the columns, below the diagonal
// if it is symmetric.
func (p *parser) inTurn(text string) error {
	var words [2]string
	if fields(text, words[:]) != 1 {
		return fmt.Errorf("%.60q is not an element: want one value", text)
	}
	v, err := p.value(words[0])
	if err != nil {
		return err
	}
	row, col := p.turn()
	return p.add(row, col, v)
}

// turn returns where the next element of an array stands. The last element
// stored says it: those that mirror others come right after them.
func (p *parser) turn() (row, col int32) {
	first := func(col int32) int32 {
		switch p.head.symmetry {
		case "symmetric":
			return col
		case "skew-symmetric":
			return col + 1
		}
		return 0
	}
	n := len(p.m.Row)
	if n == 0 {
		return first(0), 0
	}
	row, col = p.m.Row[n-1], p.m.Col[n-1]
	if p.head.symmetry != "general" && row < col {
		row, col = col, row // the last one is a mirror image
	}
	if row++; int(row) == p.m.Rows {
		col++
		row = first(col)
	}
	return row, col
}

// add adds an element and its mirror image.
func (p *parser) add(row, col int32, v float64) error {
	if len(p.m.Row) > math.MaxInt32-2 {
		return errors.New("there are more than 2³¹−1 elements")
	}
	mirrored := row != col && p.head.symmetry != "general"
	takes := elementTakes
	if mirrored {
		takes *= 2
	}
	if err := p.keep(takes); err != nil {
		return err
	}
	one := func(r, c int32, v float64) {
		p.m.Row, p.m.Col = put(p.m.Row, r, p.most), put(p.m.Col, c, p.most)
		if p.head.field != "pattern" {
			p.m.Values = put(p.m.Values, v, p.most)
		}
	}
	one(row, col, v)
	switch {
	case !mirrored:
	case p.head.symmetry == "symmetric":
		one(col, row, v)
	default:
		one(col, row, -v)
	}
	return nil
}

// put appends to a slice that will have at most most elements. It believes a
// header only as far as there are elements: memory doubles, up to what is needed.
func put[T any](x []T, v T, most int) []T {
	if len(x) == cap(x) {
		grown := make([]T, len(x), min(max(2*len(x), 1<<10), most))
		copy(grown, x)
		x = grown
	}
	return append(x, v)
}
