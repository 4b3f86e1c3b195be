// Tables goes from two CSV tables to a model that scores tomorrow's rows: one lists the customers of a
// telephone company, the other who calls whom. The column churned says who has left and who has stayed.
//
//	go run ./examples/tables
//
// The same by commands, and what the columns of tables may hold: docs/use/tables.md.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/models"
)

func main() {
	dir := must(os.MkdirTemp("", "tables"))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "churn.safetensors")
	train("examples/tables", file)
	score(file, "examples/tables/tomorrow", "examples/tables")
}

// train learns from the tables in a folder who leaves, and saves the model.
func train(folder, file string) {
	d := must(datasets.LoadAs(folder, columns.Roles{Label: []string{"churned"}, Undirected: true}))
	d.Split = must(d.RandomSplit(rand.New(rand.NewPCG(1, 0)), 50, 50, 50)) // 50 of each class train, 50 others validate, 50 test

	// Months and complaints get one scale, and towns become categories, by the customers that train. Graph attention reads the calls, too.
	data := must(models.Prepare(d, &models.Preparation{Features: columns.Scaling{Form: columns.Standard}}))
	net := must(data.New(models.GAT{Hidden: 8, Heads: 4, OutHeads: 4, Dropout: 0.3, Residual: true}, 1))
	history := must(net.Fit(data, d.Split).Run(context.Background()))
	best, _ := history.Best()
	fmt.Printf("%d customers, %d edges; test accuracy %.2f\n", d.Graph.NumNodes(), d.Graph.NumEdges(), best.Test.Accuracy)
	if err := data.Trained(net).Save(file); err != nil {
		log.Fatal(err)
	}
}

// score says what tomorrow's customers will do, and why the first of them will. The customers of base are their neighbours.
func score(file, tomorrow, base string) {
	p := must(models.Load(file))
	raw := must(form.Load(tomorrow, form.Options{}))
	q := models.Query{Base: must(form.Load(base, form.Options{}))}
	answers := must(p.Predict(raw, q))
	for _, w := range answers.Warnings {
		fmt.Println("warning:", w)
	}
	for i, id := range answers.IDs {
		class, probability := answers.Best(i)
		fmt.Printf("%s,%s,%.2f\n", id, class, probability)
	}

	id := answers.IDs[0]
	why := must(p.Explain(raw, id, models.Method{Name: "integrated"}, q))
	for _, j := range why.Scores.TopFeatures(2) {
		fmt.Printf("%s: %s %+.2f\n", id, why.Features[j], why.Scores.Features[j])
	}
	rows := must(p.Embed(raw, q))
	fmt.Printf("%d rows of %d numbers for another model\n", len(rows.IDs), rows.Rows.Dim(1))
}

// must returns v, or ends the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Output:
// 240 customers, 1526 edges; test accuracy 0.88
// warning: 1 cell of column "town" (customers_nodes.csv) has a word that the model has not seen, such as "Tromsø" in line 3: it counts as none of its 3 words
// warning: 1 cell of column "months" (customers_nodes.csv) is empty, the first in line 4: it counts as 18, the median of the rows that train
// c90001,yes,0.85
// c90002,no,0.95
// c90003,no,0.83
// c90004,yes,0.78
// c90001: months +0.64
// c90001: complaints +0.54
// 4 rows of 32 numbers for another model
