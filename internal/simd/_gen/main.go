// Command _gen writes the assembly of the packages beside it, a family of kernels to a
// file. Run it by
//
//	go generate ./internal/simd/...
//
// which is, inside this directory and for every family,
//
//	go run . -kernels vec/rows
//
// and writes vec/asm_rows_amd64.s with the declarations of its functions in
// vec/asm_rows_amd64.go. It writes the same bytes each time, so the gate can compare.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"

	. "github.com/mmcloughlin/avo/build"
	avo "github.com/mmcloughlin/avo/pass"
)

// families are the writers of the kernels in each file.
var families = map[string][]func(){
	"vec/pointwise": {unary, slopes, binary},
	"vec/rows":      {reductions, rows, dropout, dropELU, dropELUGrad, groups, columns, anyZero, adam, welford},
	"gemm/product":  {gemm, gemm512, packRuns, packEight},
	"spmm/rows":     {sums, bests, quickBests, bestGrads, edgeDots, edgePairs, picks, means, spills},
	"spmm/lists":    {gatherRows, fetchLines, scatter, gather64, scatter64, rangesOfRows, segments, dropValues, keepValues},
	"attend/gat":    {attention, allSpokes},
	"attend/heads":  {heads, ends},
	"attend/edges":  {fans, rows64, returns},
	"attend/gatv2":  {scoreds, scoreds512},
}

func main() {
	kernels := flag.String("kernels", "", "which to write: a package and a family of it")
	flag.Parse()
	writers, ok := families[*kernels]
	if !ok {
		fmt.Fprintf(os.Stderr, "there are no kernels %q\n", *kernels)
		os.Exit(2)
	}
	room, family := path.Split(*kernels)
	if err := loadStructs(path.Join("..", room)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for name, value := range map[string]string{
		"out":   "../" + room + "asm_" + family + "_amd64.s",
		"stubs": "../" + room + "asm_" + family + "_amd64.go",
		"pkg":   path.Base(room),
	} {
		if err := flag.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	avo.Compile = compile
	ConstraintExpr("!noasm")
	ConstraintExpr("!f64")
	for _, write := range writers {
		write()
	}
	Generate()
}
