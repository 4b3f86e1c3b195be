// Command _gen writes the assembly of package simd, a family of kernels to a
// file. Run it by
//
//	go generate ./internal/simd
//
// which is, inside this directory and for every family,
//
//	go run . -family rows -out ../rows_amd64.s -stubs ../rows_amd64.go -pkg simd
//
// It writes the same bytes each time, so the gate can compare.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	avo "github.com/mmcloughlin/avo/pass"
)

// families are the writers of the kernels in each file.
var families = map[string][]func(){
	"product":   {gemm, gemm512, packRuns, packEight},
	"pointwise": {unary, slopes, binary},
	"rows":      {reductions, rows, segments, dropout, adam, welford},
	"messages":  {gatherRows, fetchLines, scatter, gather64, scatter64, groups, columns, rangesOfRows},
	"spmm":      {sums, bests, quickBests, bestGrads, edgeDots, edgePairs, picks, means, spills},
	"fan":       {fans, rows64, returns},
	"scored":    {scoreds, scoreds512},
	"kept":      {keepValues, anyZero},
	"ends":      {ends},
	"bent":      {dropELU, dropELUGrad},
	"attention": {attention, allSpokes, heads, dropValues},
}

func main() {
	family := flag.String("family", "", "which kernels to write")
	flag.Parse()
	writers, ok := families[*family]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no family %q of kernels\n", *family)
		os.Exit(2)
	}
	avo.Compile = compile
	ConstraintExpr("!noasm")
	ConstraintExpr("!f64")
	for _, write := range writers {
		write()
	}
	Generate()
}
