// Package pickle reads data out of Python pickles without running any of them:
// numbers, strings, lists, dictionaries, NumPy arrays (of numbers, strings or
// objects) and SciPy CSR matrices.
//
// Its one noun is [Decode]:
//
//	v, err := pickle.Decode(b)
//	x, ok := v.(*pickle.CSR)
//
// A pickle is a program. This reader knows the binary opcodes of protocols 1 to
// 4 that such data need and the dozen names in its list; any other opcode or
// name is an error that gives its offset. Memory is bounded by a small multiple
// of the input's length, whatever the input says.
package pickle
