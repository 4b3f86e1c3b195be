// Command _gen writes the assembly of package simd. Run it by
//
//	go generate ./internal/simd
//
// which is, inside this directory,
//
//	go run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd
//
// It writes the same bytes each time, so the gate can compare.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("!noasm")
	ConstraintExpr("!f64")
	gemm()
	unary()
	binary()
	reductions()
	rows()
	dropout()
	adam()
	Generate()
}
