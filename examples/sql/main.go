// SQL trains on a graph in a database, and scores the rows of the next day: customers of a shop, and who has sent an
// offer to whom. It makes the database itself, in SQLite. Another driver of database/sql, such as that of
// PostgreSQL, goes in the same way.
//
//	cd examples/sql && go run .
//
// The example is a module of its own, since a library should not bring a database along.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/models"
	_ "modernc.org/sqlite"
)

// graphOf asks for the new customers of a day, and for the offers of that day. Columns that are neither ids nor ends are what is known of them.
func graphOf(ctx context.Context, db *sql.DB, day int) *form.Raw {
	return must(form.SQL(ctx, db, form.Queries{
		Nodes: map[string]string{"": fmt.Sprintf("SELECT id, age, town, churned, part AS split FROM customers WHERE day = %d ORDER BY id", day)},
		Edges: map[string]string{"": fmt.Sprintf("SELECT sender AS source, receiver AS target, count(*) AS offers FROM offers WHERE day = %d GROUP BY 1, 2", day)},
	}, form.Options{}))
}

func main() { run(context.Background(), os.Stdout) }

// run trains on the first day, and scores the new customers of the second, whose neighbours are those of the first.
func run(ctx context.Context, out io.Writer) {
	db := must(sql.Open("sqlite", "file:shop?mode=memory&cache=shared"))
	defer db.Close()
	if err := makeShop(ctx, db); err != nil {
		log.Fatal(err)
	}
	first := graphOf(ctx, db, 1)
	schema := must(columns.Choose(first, columns.Roles{Label: []string{"churned"}, Undirected: true}))
	d := must(datasets.From(first, schema))
	data := must(models.Prepare(d, &models.Preparation{Features: columns.Scaling{Form: columns.Standard}}))
	net := must(data.New(models.SAGE{}, 1))
	history := must(net.Fit(data, d.Split).Run(ctx))
	best, _ := history.Best()
	fmt.Fprintf(out, "%d customers, %d offers; test accuracy %.2f\n", d.Graph.NumNodes(), d.Graph.NumEdges()/2, best.Test.Accuracy)

	p := &models.Predictor{Trained: data.Trained(net)} // or from a file, by models.Load
	answers := must(p.Predict(graphOf(ctx, db, 2), models.Query{Base: first}))
	for i, id := range answers.IDs {
		class, probability := answers.Best(i)
		fmt.Fprintf(out, "%s %s %.2f\n", id, class, probability)
	}
}

// makeShop draws customers and their offers. Those of a town mostly know each other.
func makeShop(ctx context.Context, db *sql.DB) error {
	rng := rand.New(rand.NewPCG(1, 0))
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, table := range []string{
		"CREATE TABLE customers (id TEXT PRIMARY KEY, day INTEGER, age INTEGER, town TEXT, churned TEXT, part TEXT)",
		"CREATE TABLE offers (day INTEGER, sender TEXT, receiver TEXT)",
	} {
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return err
		}
	}
	const old, all = 300, 304 // customers: the last four come on the second day
	name := func(i int) string { return fmt.Sprintf("C%03d", i) }
	for i := range all {
		day, age, town := 1, 20+rng.IntN(60), []string{"Leeds", "York", "Hull"}[i%3]
		var churned, part any = "no", []string{"train", "val", "test"}[rng.IntN(3)]
		if leaves := age < 45 && town != "York"; leaves != (rng.IntN(10) == 0) {
			churned = "yes"
		}
		if i >= old {
			day, churned, part = 2, nil, nil // NULL: it is not known yet
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO customers VALUES (?, ?, ?, ?, ?, ?)", name(i), day, age, town, churned, part); err != nil {
			return err
		}
		for range 4 {
			if _, err := tx.ExecContext(ctx, "INSERT INTO offers VALUES (?, ?, ?)", day, name(i), name((i+3*rng.IntN(100))%old)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// must returns v, or ends the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Output:
//
//	300 customers, 1155 offers; test accuracy 0.86
//	C300 no 0.82
//	C301 no 0.82
//	C302 yes 0.65
//	C303 yes 0.66
