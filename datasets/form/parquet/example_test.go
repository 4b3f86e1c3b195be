package parquet_test

import (
	"bytes"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
)

// Two tables are written as Parquet files, and become a dataset.
func Example() {
	people := form.Table{Rows: 3, IDs: &form.Words{Texts: []string{"ann", "bob", "eve"}}, Columns: []form.Column{
		{Name: "age", Type: form.Number, Numbers: []float64{41, 33, 27}},
		{Name: "churned", Type: form.Word, Words: &form.Words{Texts: []string{"yes", "no", "no"}}},
	}}
	calls := form.Table{Rows: 2, Columns: []form.Column{
		{Name: "source", Type: form.Word, Words: &form.Words{Texts: []string{"ann", "bob"}}},
		{Name: "target", Type: form.Word, Words: &form.Words{Texts: []string{"bob", "eve"}}},
		{Name: "minutes", Type: form.Number, Numbers: []float64{12, 3}},
	}}
	files := fstest.MapFS{}
	for name, table := range map[string]*form.Table{"shop_nodes.parquet": &people, "shop_edges.parquet": &calls} {
		var file bytes.Buffer
		if err := parquet.Write(&file, table); err != nil {
			log.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: file.Bytes()}
	}

	raw, err := form.ReadFS(files, ".", form.Options{Others: []form.Form{parquet.Form}})
	if err != nil {
		log.Fatal(err)
	}
	s, err := columns.Choose(raw, columns.Roles{Label: []string{"churned"}})
	if err != nil {
		log.Fatal(err)
	}
	d, err := datasets.From(raw, s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.NodeNames, d.FeatureNames, d.ClassNames, d.Labels)
	fmt.Println(d.Graph.NumEdges(), "edges", d.EdgeFeatures.Data)
	// Output:
	// [ann bob eve] [age] [no yes] [1 0 0]
	// 2 edges [1 -1]
}
