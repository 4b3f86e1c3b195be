package datasets

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// numberFiles are the files of a dataset, of numbers without names, whose own names begin
// alike.
type numberFiles struct {
	folder *unpack.Folder
	path   string
	prefix string // of their names
	bytes  int64  // of the largest that was read, or of the archive
}

// has reports whether there is a file of that ending.
func (t *numberFiles) has(ending string) bool {
	return slices.ContainsFunc(t.folder.All(ending), func(name string) bool { return unpack.Plain(name) == t.prefix+ending })
}

// lines reads a file line by line: f is called with each one's fields, which stay as they
// are until the next.
func (t *numberFiles) lines(ending string, f func(fields [][]byte, budget *unpack.Budget) error) error {
	r, err := t.folder.Open(t.prefix + ending)
	if err != nil {
		return err
	}
	defer r.Close()
	file := filepath.Join(t.path, filepath.FromSlash(t.prefix)+ending)
	if err := eachRow(r, func(fields [][]byte) error { return f(fields, r.Budget) }); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	t.bytes = max(min(r.Budget.Packed(), 1<<48), t.bytes)
	return nil
}

// numbers reads a file of as many finite numbers in each line. With gaps a number may be
// missing, or nan, and is NaN.
func (t *numberFiles) numbers(ending string, gaps bool) (*tensor.Dense, error) {
	var values chunkedSlice[tensor.Float]
	rows, width := 0, 0
	err := t.lines(ending, func(fields [][]byte, budget *unpack.Budget) error {
		if rows++; rows == 1 {
			width = len(fields)
		}
		if len(fields) != width {
			return fmt.Errorf("%d numbers, want %d as in the first line", len(fields), width)
		}
		for _, field := range fields {
			f, err := strconv.ParseFloat(string(field), 64)
			v := tensor.Float(f)
			if gaps && (len(field) == 0 || v != v) {
				values.add(tensor.Float(math.NaN()))
				continue
			}
			if err != nil || v-v != 0 {
				return fmt.Errorf("%.40q is no finite number", field)
			}
			values.add(v)
		}
		return budget.Keep(8 * width)
	})
	if err != nil {
		return nil, err
	}
	return tensor.Of(values.join(), rows, width), nil
}

// rowMost is the length of the longest line of numbers that is read.
const rowMost = 1 << 20

// eachRow calls f with the fields of each line that is not empty. Between fields are
// commas or blanks.
func eachRow(r io.Reader, f func(fields [][]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), rowMost)
	var fields [][]byte
	line := 1
	for ; s.Scan(); line++ {
		text := s.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte(mark))
		}
		if fields = cutFields(fields[:0], text); len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := tooLong(s.Err(), rowMost); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// cutFields appends the fields of a line. An empty one between commas is kept, for errors.
func cutFields(fields [][]byte, line []byte) [][]byte {
	at, end := 0, len(line)
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for end > 0 && blank(line[end-1]) {
		end--
	}
	for at < end {
		for at < end && blank(line[at]) {
			at++
		}
		start := at
		for at < end && line[at] != ',' && !blank(line[at]) {
			at++
		}
		fields = append(fields, line[start:at])
		for at < end && blank(line[at]) {
			at++
		}
		if at < end && line[at] == ',' {
			if at++; at == end {
				fields = append(fields, nil)
			}
		}
	}
	return fields
}

// whole returns the number that a field is, from 0 to 2³¹−2.
func whole(field []byte) (int32, error) {
	n := int64(0)
	for _, c := range field {
		if c < '0' || c > '9' || n >= 1<<31/10 {
			n = -1
			break
		}
		n = 10*n + int64(c-'0')
	}
	if n < 0 || len(field) == 0 {
		return 0, fmt.Errorf("%.40q is no number from 0 to %d", field, 1<<31/10*10-1)
	}
	return int32(n), nil
}
