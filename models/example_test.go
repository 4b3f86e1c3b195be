package models_test

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
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Two tables become a model file, which scores the rows of the next day. Those of the first day are their neighbours.
func Example() {
	const yesterday, today = "../datasets/testdata/shop_edges.csv", "../datasets/testdata/tomorrow"

	d := must(datasets.LoadAs(yesterday, columns.Roles{
		Label: []string{"churned"}, As: map[string]columns.Encoding{"email": columns.Left}, Undirected: true,
	}))
	data := must(models.Prepare(d, &models.Preparation{}))
	net := must(data.New(models.SAGE{Hidden: 16}, 1))
	must(net.Fit(data, d.Split).Run(context.Background()))
	file := filepath.Join(must(os.MkdirTemp("", "")), "shop.safetensors")
	defer os.RemoveAll(filepath.Dir(file))
	if err := data.Trained(net).Save(file); err != nil {
		log.Fatal(err)
	}

	p := must(models.Load(file))
	rows := must(form.Load(today, form.Options{}))
	q := models.Query{Base: must(form.Load(yesterday, form.Options{}))}
	answers := must(p.Predict(rows, q))
	for i, id := range answers.IDs[:3] {
		class, probability := answers.Best(i)
		fmt.Printf("%s %s %.1f\n", id, class, probability)
	}
	why := must(p.Explain(rows, "c240", models.Method{Name: "integrated"}, q))
	fmt.Println("it rests most on", why.Features[why.Scores.TopFeatures(1)[0]])
	fmt.Println("embeddings:", must(p.Embed(rows, q)).Rows.Shape())
	// Output:
	// c240 yes 1.0
	// c241 no 1.0
	// c242 no 1.0
	// it rests most on town=Turku
	// embeddings: [6 16]
}

// must returns v, or ends the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func ExampleNew() {
	d := datasets.Karate().WithSelfLoops()
	x := tensor.New(d.Graph.NumNodes(), 4)
	x.Normal(rand.New(rand.NewPCG(1, 2)), 0, 1)

	net, err := models.New(models.GAT{Hidden: 64, Layers: 3}, models.Shape{In: 4, Out: d.Classes}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	y := net.Forward(grad.NewEval(), d.Graph, layers.In{Src: grad.Const(x)})
	fmt.Println(net)
	fmt.Println(y.Value().Shape())
	// Output:
	// GAT, 2 layers with 8 heads of width 64, then 1 of width 2
	// [34 2]
}

func ExampleNamed() {
	m, _ := models.Named("gcn")
	m = models.With(m, models.Settings{Hidden: 32, Heads: 4}) // GCN has no heads
	fmt.Printf("%T %d\n", m, models.SettingsOf(m).Hidden)
	_, err := models.Named("gnc")
	fmt.Println(err != nil)
	// Output:
	// models.GCN 32
	// true
}
