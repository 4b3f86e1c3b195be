// Draw writes a graph of any size as one file, to try large trainings with: each node has one of 16 classes, features that
// say little of it, and neighbours of which seven in ten are of the same class. A tenth of the nodes trains.
//
//	go run ./examples/draw -nodes 2400000 -degree 26 -features 100 large.npz
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

const classes = 16

// part draws the nodes from lo to hi: their features, and the sources of their in-edges.
func part(d *datasets.Dataset, from []int32, lo, hi, degree int) {
	rng := rand.New(rand.NewPCG(1, uint64(lo)))
	nodes, x := len(d.Labels), d.Features.(*tensor.Dense)
	for v := lo; v < hi; v++ {
		d.Labels[v] = int32(v % classes)
		row := x.Row(v)
		for i := range row {
			row[i] = tensor.Float(3 * rng.NormFloat64())
		}
		row[v%classes%len(row)]++
		for edge := range degree {
			u := rng.IntN(nodes)
			if 10*edge < 7*degree {
				u -= (u - v) % classes // to the next one of v's class
			}
			from[v*degree+edge] = int32(u)
		}
	}
}

func main() {
	nodes := flag.Int("nodes", 100_000, "the number of nodes")
	degree := flag.Int("degree", 10, "the number of edges into each node")
	features := flag.Int("features", 32, "the number of features of a node")
	flag.Parse()
	if flag.NArg() != 1 || *nodes < 10*classes || *degree < 1 || *features < 1 || *nodes > 1<<30 {
		log.Fatal("usage: draw [-nodes N] [-degree K] [-features F] FILE.npz, with 160 nodes at least")
	}
	d := &datasets.Dataset{Labels: make([]int32, *nodes), Classes: classes, Features: tensor.New(*nodes, *features)}
	from, to := make([]int32, *nodes**degree), make([]int32, *nodes**degree)
	var all sync.WaitGroup
	for lo := 0; lo < *nodes; lo += 1 << 16 { // parts of one size, so that a seed draws one graph on any machine
		all.Go(func() { part(d, from, lo, min(lo+1<<16, *nodes), *degree) })
	}
	for e := range to {
		to[e] = int32(e / *degree)
	}
	all.Wait()
	g, err := graph.New(*nodes, from, to)
	if err != nil {
		log.Fatal(err)
	}
	d.Graph = g
	if d.Split, err = d.RandomSplit(rand.New(rand.NewPCG(1, 1)), *nodes/classes/10, *nodes/50, *nodes/50); err != nil {
		log.Fatal(err)
	}
	if err := d.WriteNPZ(flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %v, %d features, %d nodes train\n", flag.Arg(0), g, *features, len(d.Split.Train))
}
