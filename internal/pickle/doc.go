// Package pickle reads data out of Python pickles without running any of them:
// numbers, strings, lists, dictionaries, NumPy arrays (of numbers, strings or
// objects) and SciPy CSR matrices and arrays.
//
// Its one noun is [Decode]:
//
//	v, err := pickle.Decode(b)
//	x, ok := v.(*pickle.CSR)
//
// [DecodeTorch] reads the pickle of a file that torch.save wrote, whose tensors are in
// other members of its archive.
//
// A pickle is a program. This reader knows the binary opcodes of protocols 1 to
// 5 that such data need and the few names in its list; any other opcode or name
// is an error that gives its offset, and so is a buffer that protocol 5 has kept
// elsewhere.
//
// Memory is bounded: strings and arrays are views of the input, and all other
// values together take 16 MiB and 12 bytes for each byte of input, counted as they
// are made. A graph of lists of neighbours takes 7 to 9 bytes for each, one of
// protocol 4 whose nodes have but one neighbour 9. Lists in lists without end take
// 28; they are an error.
package pickle
