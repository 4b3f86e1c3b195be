package unpack

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

// damage says what is wrong with a file that is compressed, or with an archive, and what to do.
type damage struct {
	says  string
	cause error
}

func (d *damage) Error() string { return d.says }

// Unwrap returns what its reader said.
func (d *damage) Unwrap() error { return d.cause }

// refusal is an error of a budget.
type refusal struct{ error }

// Damaged puts the error of what expands a file of that form into words; those of the file
// itself and of its budget stay.
func Damaged(form string, err error) error {
	switch {
	case err == nil, err == io.EOF, errors.As(err, new(*damage)), errors.As(err, new(refusal)), errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &damage{fmt.Sprintf("the %s file ends early: it was cut, so download or copy it again", form), err}
	case errors.Is(err, zip.ErrFormat):
		return &damage{"the zip archive is cut or damaged: download or copy it again", err}
	case errors.Is(err, zip.ErrAlgorithm):
		return &damage{"it is packed by a method that is not read: pack it again with deflate, as zip does by itself", err}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &damage{fmt.Sprintf("it wants more than %d bytes of memory to be unpacked, or is damaged: compress it again, without --long", window), err}
	}
	return &damage{fmt.Sprintf("the %s file is damaged: download or copy it again", form), err}
}
