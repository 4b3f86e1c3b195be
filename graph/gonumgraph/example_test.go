package gonumgraph_test

import (
	"fmt"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
)

// Gonum's algorithms run on a view.
func ExampleView() {
	g := graph.Must(graph.New(4, []int32{0, 1, 2, 1}, []int32{1, 2, 0, 3}))
	fmt.Println("strong components:", len(topo.TarjanSCC(gonumgraph.Of(g))))
	v, err := gonumgraph.Weighted(g, []float64{1, 1, 1, 5}) // by edge: into 0, 1, 2, 3
	if err != nil {
		fmt.Println(err)
		return
	}
	way, length := path.DijkstraFrom(v.Node(0), v).To(3)
	fmt.Println("way to 3:", way, length)
	// Output:
	// strong components: 2
	// way to 3: [0 1 3] 6
}
