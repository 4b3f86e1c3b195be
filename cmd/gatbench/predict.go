package main

import (
	"io"
	"math"
	"strconv"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/tensor"
)

// predictCommand is gatbench predict.
type predictCommand struct {
	savedFlags `embed:""`
	Nodes      []int32 `placeholder:"N" help:"The nodes to classify (all)."`
	Out        string  `placeholder:"FILE" help:"Write to this file instead."`
}

// predicted is the class of a node.
type predicted struct {
	Event       string  `json:"event"` // "predict"
	Node        int32   `json:"node"`
	Class       int     `json:"class"`
	Name        string  `json:"name,omitempty"`
	Probability float64 `json:"probability"`
	Label       int32   `json:"label"` // what the dataset says; -1: nothing
}

// Run writes the class of each node, and how sure the model is.
func (c *predictCommand) Run(e env) error {
	if err := target("out", c.Out); err != nil {
		return err
	}
	c.out = file{"--out", c.Out}
	_, k, logits, err := c.open(e)
	if err != nil {
		return err
	}
	if err := k.checkNodes(c.Nodes); err != nil {
		return err
	}
	nodes := c.Nodes
	if len(nodes) == 0 {
		for v := range k.Labels {
			nodes = append(nodes, int32(v))
		}
	}
	write := func(w io.Writer) error { return c.write(w, k, logits, nodes) }
	if c.Out != "" {
		return atomicfile.Write(c.Out, write)
	}
	return write(e.out)
}

// write writes a line a node: JSON, or CSV under a head.
func (c *predictCommand) write(w io.Writer, k *task, logits *tensor.Dense, nodes []int32) error {
	p := report.NewPrinter(w)
	if !c.JSON {
		p.Printf("node,class,name,probability,label\n")
	}
	for _, v := range nodes {
		line := predicted{Event: "predict", Node: v, Label: k.Labels[v]}
		line.Class, line.Probability = likeliest(logits.Row(int(v)))
		if line.Class < len(k.ClassNames) {
			line.Name = k.ClassNames[line.Class]
		}
		if c.JSON {
			p.Encode(line)
		} else {
			p.Printf("%d,%d,%s,%.4f,%d\n", line.Node, line.Class, strconv.Quote(line.Name), line.Probability, line.Label)
		}
	}
	return p.Err()
}

// likeliest returns the class of the largest logit and its probability.
func likeliest(row []tensor.Float) (class int, p float64) {
	for j, v := range row {
		if v > row[class] {
			class = j
		}
	}
	sum := 0.0
	for _, v := range row {
		sum += math.Exp(float64(v - row[class]))
	}
	return class, 1 / sum
}
