package sparse_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func ExampleCSR() {
	// Edges 0→1, 2→1 and 1→0 as rows (destinations) and columns (sources).
	a, order, err := sparse.FromCOO(3, 3, []int32{1, 1, 0}, []int32{0, 2, 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range a.NumRows {
		sources, _ := a.Row(v)
		fmt.Println(v, "hears from", sources)
	}
	fmt.Println("nonzeros in the order of the list:", order)

	_, err = sparse.New(2, 2, []int64{0, 1, 2}, []int32{0, 5}, nil)
	fmt.Println(err)
	// Output:
	// 0 hears from [1]
	// 1 hears from [0 2]
	// 2 hears from []
	// nonzeros in the order of the list: [2 0 1]
	// sparse: nonzero 1, in row 1, has column 5 of a matrix of 2 columns
}

func ExampleProduct() {
	a, _, err := sparse.FromCOO(2, 3, []int32{0, 0, 1}, []int32{0, 2, 1}, []tensor.Float{1, 10, 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6}, 3, 2)
	y, dx := tensor.New(2, 2), tensor.New(3, 2)
	sparse.Product{A: a}.Into(y, x)
	sparse.Product{A: a, Transpose: true}.Into(dx, y)
	fmt.Println(y)
	fmt.Println(dx)
	// Output:
	// Dense[2 2][51 62 300 400]
	// Dense[3 2][51 62 30000 40000 510 620]
}
