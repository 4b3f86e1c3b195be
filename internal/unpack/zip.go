package unpack

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zip"
)

// inZip opens a zip archive, whose members share a budget.
func inZip(path string, r io.ReaderAt, size int64) (*Folder, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, Damaged("zip", err))
	}
	budget, members := NewBudget(size), map[string]*zip.File{}
	f := &Folder{path: path, open: func(name string) (*File, error) {
		return expand(members[name], budget)
	}}
	for _, m := range z.File {
		if !strings.HasSuffix(m.Name, "/") {
			members[m.Name] = m
			f.names = append(f.names, m.Name)
		} else if !filepath.IsLocal(m.Name) {
			f.names = append(f.names, m.Name) // for the error
		}
	}
	return f, nil
}

// expand opens a member of a zip archive. What the archive says of its size is only
// believed if that is too much: the budget is taken by what is read.
func expand(m *zip.File, budget *Budget) (*File, error) {
	if m.UncompressedSize64 > uint64(budget.text.left) {
		return nil, fmt.Errorf("it expands from %d to %d bytes, which is refused: unpack it first, if you trust it", m.CompressedSize64, m.UncompressedSize64)
	}
	r, err := m.Open()
	if err != nil {
		return nil, Damaged("zip", err)
	}
	return NewFile(&metered{r, "zip", budget}, budget, r.Close)
}
