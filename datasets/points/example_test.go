package points_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A square with a point within: its corners, and the shortest tour of all five.
func Example() {
	x := tensor.Of([]tensor.Float{0, 0, 0.5, 0.4, 1, 1, 1, 0, 0, 1}, 5, 2)
	hull, err := points.Hull(x)
	fmt.Println("hull", hull, points.Area(x, hull), err)
	tour, err := points.Tour(x)
	fmt.Printf("tour %v %.3f %v\n", tour, points.Length(x, tour), err)
	// Output:
	// hull [0 3 2 4] 1 <nil>
	// tour [0 1 3 2 4] 4.281 <nil>
}

func ExampleTask() {
	sets := points.Task{Count: 2, Min: 3, Max: 5, Seed: 1}.Ascending()
	for i := range sets.Len() {
		fmt.Printf("%.2f in the order %v\n", sets.Set(i).Data, sets.Answers[i])
	}
	// Output:
	// [0.77 0.75 0.13 0.90 0.85] in the order [2 1 0 4 3]
	// [0.44 0.16 0.51 0.98 0.56] in the order [1 0 2 4 3]
}
