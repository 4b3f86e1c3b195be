// Package scratch lends working rows to kernels and keeps them between calls, so that a
// step of training allocates none.
//
//	buf := scratch.Borrow(n)
//	defer scratch.Repay(buf)
//
// What is borrowed holds any values.
package scratch
