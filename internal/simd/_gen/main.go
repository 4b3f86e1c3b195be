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

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	"github.com/edgewise-ml/edgewise/internal/simd/_gen/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/_gen/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/_gen/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/_gen/vec"
	. "github.com/mmcloughlin/avo/build"
	avo "github.com/mmcloughlin/avo/pass"
)

// families are the writers of the kernels in each file.
var families = map[string][]func(){
	"vec/pointwise":   {vec.Unary, vec.Slopes, vec.Binary},
	"vec/rows":        {vec.Reductions, vec.Rows, vec.Dropout, vec.KeepColumn, vec.DropELU, vec.DropELUGrad, vec.Groups, vec.Columns, vec.AnyZero, vec.Adam, vec.Welford, vec.LayerNorm, vec.FourNorm, vec.LSTM, vec.GRU, vec.Centred},
	"gemm/product":    {gemm.Product, gemm.Row, gemm.Tall512, gemm.Few512, gemm.PackRuns, gemm.PackEight, gemm.Dots},
	"spmm/rows":       {spmm.Sums, spmm.Sums512, spmm.Bests, spmm.QuickBests, spmm.BestGrads, spmm.EdgeDots, spmm.Picks, spmm.Means, spmm.Spills, spmm.ApartDots},
	"spmm/lists":      {spmm.GatherRows, spmm.FetchLines, spmm.Scatter, spmm.Gather64, spmm.Scatter64, spmm.RangesOfRows, spmm.Segments, spmm.DropValues, spmm.KeepValues},
	"attend/gat":      {attend.Tiles, attend.NodeExps},
	"attend/heads":    {attend.Heads, attend.DotPairs},
	"attend/edges":    {attend.EdgeRows, attend.EdgeRows64, attend.CompactGrads},
	"attend/gatv2":    {attend.GATv2},
	"attend/dots":     {attend.DotWalks},
	"attend/soft":     {attend.SoftRows},
	"attend/additive": {attend.Additive, attend.Additive512},
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
	if err := LoadStructs(path.Join("..", room)); err != nil {
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
	avo.Compile = Compile
	ConstraintExpr("!noasm")
	ConstraintExpr("!f64")
	for _, write := range writers {
		write()
	}
	Generate()
}
