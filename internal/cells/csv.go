package cells

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// As says how a column of a text is read.
type As uint8

const (
	AsTyped As = iota // as its cells say
	AsWords           // texts as they stand
	AsIDs             // ids, of which 7.0 is 7: a text a row
	AsEnds            // ids that are repeated: each different one once
	AsNames           // the same as they stand
)

// Plan says how the columns of a text are read.
type Plan struct {
	As    []As
	Names []string // of columns that the text does not name: its first line is a row
}

const (
	blockLeast = 1 << 20 // the text that is parsed at once
	blockMost  = 1 << 22
	rowLongest = 1 << 24 // the length of the longest row
	threadMost = 8       // each has a block of its own
)

// delimited is a text while it is read: a line that names the columns, then a row a line. Between fields
// are tabs, commas or semicolons, whichever of these the first line has, or else blanks. A field may stand in
// quotes, within which two quotes are one, and may go on in other lines then. Lines that are empty are
// skipped, and before the names those that begin with # or %.
//
// One goroutine reads blocks, which end with rows. Others cut these into fields and parse them column by
// column. A column's type is settled when all are parsed, so that it does not depend on where blocks end.
type delimited struct {
	path   string
	split  byte
	names  []string
	plan   Plan
	when   []when
	hint   []atomic.Uint32 // what a column turned out to be in other blocks: it saves trying
	size   int             // of blocks
	kept   atomic.Int64    // bytes that are in use and not in the budget yet
	failed atomic.Bool
	header int // the line of the names
	first  int // the line after it
	blocks []*block
}

// What a hint says of a column.
const (
	hasWords    = 1 << iota // it is of texts
	hasDistinct             // most of them are different
)

// block is a part of the text once it is parsed.
type block struct {
	rows, lines int
	at          []int32 // the line of each row, from 0; nil: they have one each and follow each other
	columns     []piece
	err         error
	errLine     int // from 0
}

// Read reads a text as a table, whose path errors name. choose says how its columns are read, of which it gets the names.
func Read(r io.Reader, budget *unpack.Budget, path string, choose func(names []string) (Plan, error)) (*Table, error) {
	return readBlocks(r, budget, path, choose, 0)
}

// readBlocks is Read in blocks of a size, the usual one if it is 0.
func readBlocks(r io.Reader, budget *unpack.Budget, path string, choose func(names []string) (Plan, error), size int) (*Table, error) {
	t := &delimited{path: path, size: size}
	in := &source{r: table.Text(r), budget: budget, buf: make([]byte, max(64, cmp.Or(size, blockLeast)))}
	if err := t.begin(in, choose); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, max(1, t.header), err)
	}
	if err := t.read(in); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.table()
}

// source is a text that is read in blocks.
type source struct {
	r      io.Reader
	budget *unpack.Budget
	buf    []byte
	lo, hi int // of buf what is not taken yet
	err    error
}

// fill reads until the buffer is full, or the text has ended.
func (s *source) fill() {
	for s.err == nil && s.hi < len(s.buf) {
		var n int
		n, s.err = s.r.Read(s.buf[s.hi:])
		s.hi += n
	}
}

// grow makes the buffer larger, or returns an error where a row cannot be that long.
func (s *source) grow() error {
	if s.hi-s.lo >= rowLongest {
		return fmt.Errorf("the row is longer than %d bytes: if a quote begins in it that is not meant, double it, and close the others", rowLongest)
	}
	next := make([]byte, max(2*len(s.buf), 64))
	s.hi = copy(next, s.buf[s.lo:s.hi])
	s.lo, s.buf = 0, next
	return nil
}

// begin reads the line that names the columns.
func (t *delimited) begin(in *source, choose func(names []string) (Plan, error)) error {
	in.fill()
	if bytes.HasPrefix(in.buf[:in.hi], []byte("\ufeff")) {
		in.lo = len("\ufeff")
	}
	for {
		end := bytes.IndexByte(in.buf[in.lo:in.hi], '\n')
		if end < 0 && in.err == nil {
			if err := in.grow(); err != nil {
				return err
			}
			in.fill()
			continue
		}
		if end < 0 && !errors.Is(in.err, io.EOF) {
			t.header++
			return in.err
		}
		if in.lo == in.hi {
			return errors.New("there is no line in it that names columns")
		}
		t.header++
		line := in.buf[in.lo : in.lo+cmp.Or(end+1, in.hi-in.lo)]
		if err := table.CheckText(bytes.TrimRight(line, "\r\n")); err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && line[0] != '%' {
			break
		}
		in.lo += cmp.Or(end+1, in.hi-in.lo)
	}
	return t.named(in, choose)
}

// named reads the names, at which the text stands.
func (t *delimited) named(in *source, choose func(names []string) (Plan, error)) (err error) {
	line, _, _ := bytes.Cut(in.buf[in.lo:in.hi], []byte("\n"))
	t.split = ' '
	for _, c := range []byte("\t,;") {
		if bytes.IndexByte(line, c) >= 0 {
			t.split = c
			break
		}
	}
	var ends []uint32
	next, ended := 0, false
	for !ended {
		ends, next, ended, err = t.row(in.buf[:in.hi], in.lo, ends[:0])
		switch more := in.err == nil && (err == nil || errors.Is(err, errOpen)); {
		case ended:
		case more:
			if err = in.grow(); err != nil {
				return err
			}
			in.fill()
		case err == nil && errors.Is(in.err, io.EOF):
			ended = true
		default:
			return cmp.Or(err, in.err)
		}
	}
	s, from := &scratch{of: t}, in.lo
	for _, end := range ends {
		t.names = append(t.names, string(s.cell(in.buf[from:end])))
		from = int(end) + 1
	}
	if t.plan, err = choose(t.names); err != nil {
		return err
	}
	t.first = t.header
	if t.plan.Names != nil {
		t.names = t.plan.Names
	} else {
		t.first += max(1, bytes.Count(in.buf[in.lo:next], []byte("\n")))
		in.lo = next
		if err := NamedOnce(t.names); err != nil {
			return err
		}
	}
	t.hint, t.when = make([]atomic.Uint32, len(t.names)), make([]when, len(t.names))
	for i, name := range t.names {
		t.when[i] = whenOf(name)
	}
	if t.size == 0 {
		t.size = min(max(blockLeast, 32*len(line)), blockMost)
	}
	return nil
}

// NamedOnce returns an error if two columns have a name.
func NamedOnce(names []string) error {
	at := map[string]int{}
	for i, name := range names {
		if k, ok := at[name]; ok && name != "" {
			return fmt.Errorf("the columns %d and %d are both called %.40q: rename one of them, or take it out", k+1, i+1, name)
		}
		at[name] = i
	}
	return nil
}

// job is a block to be parsed.
type job struct {
	buf  []byte // what is read into again
	text []byte
	into *block
}

// read reads and parses all blocks.
func (t *delimited) read(in *source) error {
	threads := min(runtime.GOMAXPROCS(0), threadMost, max(2, threadMost*blockLeast/t.size))
	jobs, free := make(chan job), make(chan []byte, threads+2)
	var done sync.WaitGroup
	for range threads {
		done.Go(func() {
			s := &scratch{of: t}
			for j := range jobs {
				s.parse(j)
				select {
				case free <- j.buf:
				default:
				}
			}
		})
	}
	err := t.cutBlocks(in, jobs, free)
	close(jobs)
	done.Wait()
	if err == nil {
		err = in.budget.Keep(int(t.kept.Swap(0)))
	}
	line := t.first
	for _, b := range t.blocks {
		if b.err != nil {
			return fmt.Errorf("line %d: %w", line+b.errLine, b.err)
		}
		line += b.lines
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// cutBlocks gives the text to the goroutines that parse it.
func (t *delimited) cutBlocks(in *source, jobs chan<- job, free <-chan []byte) error {
	for !t.failed.Load() {
		in.fill()
		text, last := in.buf[in.lo:in.hi], errors.Is(in.err, io.EOF)
		cut := len(text)
		if !last {
			cut = t.end(text)
		}
		if cut == 0 && in.err == nil {
			if err := in.grow(); err != nil {
				return err
			}
			continue
		}
		if err := in.budget.Keep(int(t.kept.Swap(0))); err != nil {
			return err
		}
		var next []byte
		select {
		case next = <-free:
		default:
		}
		if len(next) < max(t.size, 2*(len(text)-cut)) {
			next = make([]byte, max(t.size, 2*(len(text)-cut)))
		}
		b := new(block)
		t.blocks = append(t.blocks, b)
		j := job{buf: in.buf, text: text[:cut], into: b}
		in.hi = copy(next, text[cut:])
		in.lo, in.buf = 0, next
		jobs <- j
		if in.err != nil {
			if last {
				return nil
			}
			return in.err
		}
	}
	return nil
}

// end returns where the last whole row of a text ends.
func (t *delimited) end(text []byte) int {
	quote := bytes.IndexByte(text, '"')
	if quote < 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	var ends []uint32
	at := 0
	for {
		next := bytes.IndexByte(text[at:], '\n') + at + 1
		if next == at {
			return at
		}
		if quote >= at && quote < next {
			var ended bool
			var err error
			line := next
			if ends, next, ended, err = t.row(text, at, ends[:0]); err != nil && !errors.Is(err, errOpen) {
				return line // it stays an error, whatever follows
			} else if !ended {
				return at
			}
		}
		at = next
		if quote >= 0 && quote < at {
			if quote = bytes.IndexByte(text[at:], '"'); quote >= 0 {
				quote += at
			} else {
				return bytes.LastIndexByte(text, '\n') + 1
			}
		}
	}
}

// row cuts the row that begins somewhere into fields, and appends where each ends. It returns where the next
// row begins, and whether a line feed ends this one.
func (t *delimited) row(b []byte, at int, ends []uint32) (out []uint32, next int, ended bool, err error) {
	for i := at; ; {
		for i < len(b) && (b[i] == ' ' || t.split == ' ' && (b[i] == '\t' || b[i] == '\r')) {
			i++
		}
		if t.split == ' ' && (i == len(b) || b[i] == '\n') {
			return ends, min(i+1, len(b)), i < len(b), nil
		}
		if i < len(b) && b[i] == '"' {
			if i, err = closed(b, i+1); err != nil {
				return ends, len(b), false, err
			}
			for i < len(b) && (b[i] == ' ' && t.split != ' ' || b[i] == '\r') {
				i++
			}
			if i < len(b) && b[i] != t.split && b[i] != '\n' && (t.split != ' ' || b[i] != '\t') {
				line, _, _ := bytes.Cut(b[i:], []byte("\n"))
				return ends, len(b), false, fmt.Errorf("%.40q follows a field in quotes: write each quote that is meant as \"\", and all of the field in quotes", line)
			}
		} else if t.split == ' ' {
			for i < len(b) && b[i] != ' ' && b[i] != '\n' && b[i] != '\t' {
				i++
			}
		} else {
			for i < len(b) && b[i] != t.split && b[i] != '\n' {
				i++
			}
		}
		ends = append(ends, uint32(i))
		if i == len(b) {
			return ends, i, false, nil
		}
		if i++; b[i-1] == '\n' {
			return ends, i, true, nil
		}
	}
}

// errOpen is the error of a quote that is not closed in what was read.
var errOpen = errors.New("a quote is not closed: close it, or write one that is meant as \"\" in a field that stands in quotes")

// closed returns what follows the quote that ends a field.
func closed(b []byte, i int) (int, error) {
	for {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b), errOpen
		}
		if i += q + 1; i == len(b) || b[i] != '"' {
			return i, nil
		}
		i++
	}
}
