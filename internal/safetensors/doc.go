// Package safetensors reads and writes the safetensors format: an 8-byte
// little-endian length, a JSON header of that length, and the elements of the
// named arrays, one after the other.
//
// Its one noun is [Tensor]:
//
//	err := safetensors.Write(w, []safetensors.Tensor{{Name: "W", Shape: []int{2}, F32: []float32{1, 2}}}, nil)
//	tensors, metadata, err := safetensors.Read(f, size)
//
// The same tensors and metadata give the same bytes. A reader takes nothing on
// trust: lengths are compared with the input's size before memory is asked for,
// the arrays must fill the input without gap or overlap, and a header has bounds:
// 100 MB, 65,536 tensors, 4,096 keys of metadata, names of 4 KiB. Elements of type
// F32, F64, F16 and BF16 are read; the last two become float32. So are whole numbers and
// booleans, which become int64; they are not written.
package safetensors
