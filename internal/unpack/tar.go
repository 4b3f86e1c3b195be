package unpack

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/tar"
)

// inTar lists a tar archive. It is read again from its start for each file that
// is opened: a tar has no table of contents. Each time it may expand to the
// [Limit], and so may all that is read of its members.
func inTar(path string, r io.ReaderAt, size int64) (*Folder, error) {
	budget := NewBudget(size)
	again := func() (*File, error) { return NewFile(io.NewSectionReader(r, 0, size), NewBudget(size)) }
	f := &Folder{path: path, open: func(name string) (*File, error) { return member(again, name, budget) }}
	err := eachMember(again, func(h *tar.Header) error {
		switch {
		case sparse(h):
			return fmt.Errorf("the member %.80q is sparse, so a few bytes may stand for any number, which is refused: pack it without --sparse", h.Name)
		case h.Typeflag == tar.TypeReg:
			f.names = append(f.names, h.Name)
		case h.Typeflag != tar.TypeDir && h.Typeflag != tar.TypeXGlobalHeader:
			return fmt.Errorf("the member %.80q is a link or a device, which is refused", h.Name)
		}
		if len(h.Name) > nameMost || len(f.names) > memberMost {
			return f.check()
		}
		return nil
	})
	if err == io.ErrUnexpectedEOF && len(f.names) > 0 {
		err = Damaged("tar", err)
	}
	switch {
	case err == nil:
		return f, nil
	case err == io.ErrUnexpectedEOF || errors.Is(err, tar.ErrHeader):
		return nil, fmt.Errorf("%s: neither a folder nor a zip or tar archive that can be read", path)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// sparse reports whether a member has holes, in GNU's own form, or in one of the
// forms that stand in the records of an ordinary file.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

// eachMember calls visit for each member of a tar archive, which open opens.
func eachMember(open func() (*File, error), visit func(*tar.Header) error) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF { // the checksum of what is compressed comes after the end of the archive
			_, err = io.Copy(io.Discard, r)
			return err
		}
		if err == nil {
			err = visit(h)
		}
		if err != nil {
			return err
		}
	}
}

// member opens a file of a tar archive.
func member(open func() (*File, error), name string, budget *Budget) (*File, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			err = fmt.Errorf("it is gone: the archive has changed")
		}
		if err != nil {
			r.Close()
			return nil, err
		}
		if h.Name == name && h.Typeflag == tar.TypeReg && !sparse(h) {
			return NewFile(&metered{t, "tar", budget}, budget, r.Close)
		}
	}
}
