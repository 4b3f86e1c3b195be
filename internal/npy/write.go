package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zip"
)

// Named is an array to be written: its name in the archive, its elements, and its
// shape. The elements are a []int32, []int64, []float32, []float64, []bool or
// []string.
type Named struct {
	Name  string
	Data  any
	Shape []int // nil: one axis
}

// WriteArchive writes a .npz archive of the arrays to w, compressed. The same
// arrays give the same bytes.
func WriteArchive(w io.Writer, arrays ...Named) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		m, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Deflate})
		if err == nil {
			err = a.Write(m)
		}
		if err != nil {
			return fmt.Errorf("npy: array %q: %w", a.Name, err)
		}
	}
	return z.Close()
}

// Write writes the array as a file of its own, an .npy.
func (a *Named) Write(w io.Writer) error {
	descr, n, data := "", 0, a.Data
	switch x := a.Data.(type) {
	case []int32:
		descr, n = "<i4", len(x)
	case []int64:
		descr, n = "<i8", len(x)
	case []float32:
		descr, n = "<f4", len(x)
	case []float64:
		descr, n = "<f8", len(x)
	case []bool:
		descr, n = "|b1", len(x)
	case []string:
		var width int
		data, width = runesOf(x)
		descr, n = fmt.Sprintf("<U%d", width), len(x)
	default:
		return fmt.Errorf("elements of type %T cannot be written", a.Data)
	}
	shape := a.Shape
	if shape == nil {
		shape = []int{n}
	}
	size := 1
	for _, d := range shape {
		size *= d
	}
	if size != n {
		return fmt.Errorf("%d elements do not have the shape %v", n, shape)
	}
	if _, err := io.WriteString(w, headerText(descr, shape)); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, data)
}

// headerText is what stands before the elements; NumPy wants its length to be a
// multiple of 64.
func headerText(descr string, shape []int) string {
	var axes strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&axes, "%d, ", d)
	}
	tuple := strings.TrimSuffix(axes.String(), " ")
	if len(shape) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	lead := len(magic) + 4
	text += strings.Repeat(" ", 63-(lead+len(text))%64) + "\n"
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text
}

// runesOf returns strings as UTF-32, each as wide as the widest.
func runesOf(x []string) (data []int32, width int) {
	width = 1
	for _, s := range x {
		width = max(width, len([]rune(s)))
	}
	data = make([]int32, len(x)*width)
	for i, s := range x {
		copy(data[i*width:], []rune(s))
	}
	return data, width
}
