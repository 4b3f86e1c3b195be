package form_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Two tables become a Raw: ends of edges are rows of the nodes, and cells are as they were written.
func Example() {
	files := fstest.MapFS{
		"shop_nodes.csv": {Data: []byte("id,age,town\nann,41,Turku\nbob,,Oslo\n")},
		"shop_edges.csv": {Data: []byte("source,target,orders\nann,bob,3\n")},
	}
	raw, err := form.ReadFS(files, ".", form.Options{})
	if err != nil {
		log.Fatal(err)
	}
	nodes, edges := raw.Nodes[0], raw.Edges[0]
	for _, c := range nodes.Columns {
		fmt.Println(c.Name, c.Type)
	}
	fmt.Println(nodes.Column("age").Numbers)
	fmt.Println(nodes.IDs.At(int(edges.Source[0])), "→", nodes.IDs.At(int(edges.Target[0])), edges.Column("orders").Numbers[0])
	// Output:
	// age number
	// town word
	// [41 NaN]
	// ann → bob 3
}
