// Package vec holds the kernels on elements, rows and columns: functions of one element
// and of two, reductions, softmax, dropout, runs of a row, steps of optimisers.
//
// Each is written in plain Go, which is the truth; where there is assembly, it gives the
// same values faster, though not the same bits.
package vec

//go:generate go -C ../_gen run . -kernels vec/pointwise
//go:generate go -C ../_gen run . -kernels vec/rows
