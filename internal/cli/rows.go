package cli

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// EachRow calls take with the words of each line of a csv or tsv, as many as want in each;
// first is the line that may name the columns. Errors name the file and the line.
func EachRow(flag, path string, want int, take func(words []string, first bool) error) error {
	if err := regular.File(path); err != nil {
		return Misuse("%s %w", flag, err)
	}
	f, err := unpack.Open(path)
	if err != nil {
		return Misuse("%s %w", flag, err)
	}
	defer f.Close()
	wrong := func(line int, err error) error { return fmt.Errorf("%s: line %d: %w", path, line, err) }
	rows, err := table.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(rows.Columns) != want {
		return wrong(rows.Line(), fmt.Errorf("%d fields, want %d", len(rows.Columns), want))
	}
	if err := take(rows.Columns, true); err != nil {
		return wrong(rows.Line(), fmt.Errorf("%w; if this line names the columns, call them %s", err, map[int]string{2: "source and target", 3: "head, relation and tail"}[want]))
	}
	words := make([]string, want)
	for rows.Next() {
		const takes = 256 // of an answer
		size := takes
		for i, field := range rows.Fields() {
			words[i] = string(field)
			size += len(field)
		}
		err := f.Budget.Keep(size)
		if err == nil {
			err = take(words, false)
		}
		if err != nil {
			return wrong(rows.Line(), err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
