// Package asm holds what the writers of all kernels have in common: instructions as
// functions of registers, loops, the exponential, the structs that kernels are given, and
// the allocation of registers.
package asm
