package rules

import (
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// Table holds all rules: of those that match, the first whose way takes a call runs
// it.
var Table = []Rule{
	{"sum of U(x) where destination i has source i alone: x itself", matchSameSources},
	{"sum of U(x): one sparse-dense product", matchSumSources},
	{"mean of U(x): one sparse-dense product, divided by the in-degrees", matchMeanSources},
	{"largest of U(x): one pass over the edges", matchMaxSources},
	{"smallest of U(x): one pass over the edges", matchMinSources},
	{"sum of U(x) × a scalar an edge, on whole blocks: a product of matrices", matchWeightedBlocks},
	{"sum of U(x) × a scalar a head: one product with a weight a head", matchWeightedSum},
	{additiveName, matchAdditiveBlocks},
	{"dot-product attention on blocks: products of matrices with a softmax that goes along", matchBlocks},
	{"dot-product attention: a walk of each destination's edges, and back of each source's", matchDotWalk},
	{"graph attention: softmax and weighted sum in one pass over each destination's edges", matchGAT},
	{"edge softmax: one pass over each destination's edges", matchEdgeSoftmax},
	{"U(x)·V(y): one sampled product", matchEdgeDot},
	{gatv2Name, matchGATv2Walk},
	{tilesName, matchTiles},
}

// Compiled is a plan with its ways.
type Compiled struct {
	Plan    *plan.Plan
	matches []match
}

type match struct {
	name string
	way  Way
}

// Compile makes the plan of a program and asks every rule of the table for a way.
// It panics with a [*tensor.ShapeError], in the name of op, where an operand does not
// fit.
func Compile(op string, p *ir.Program) *Compiled {
	c := &Compiled{Plan: plan.New(op, p)}
	for _, r := range Table {
		if k := r.Match(c.Plan); k != nil {
			c.matches = append(c.matches, match{r.Name, k})
		}
	}
	return c
}

// TilesOnly switches off all rules but that of the tiles. Tests set it, to
// compare ways with tiles.
var TilesOnly = false

// Choose returns the way in which a call runs.
func (p *Compiled) Choose(c *exec.Call) Way { return p.choose(c).way }

// Explain says in words how a call will run.
func (p *Compiled) Explain(c *exec.Call) string {
	m := p.choose(c)
	if k, ok := m.way.(tiles); ok {
		return exec.Explain(c, k.walk)
	}
	return "rule: " + m.name + "\n"
}

func (p *Compiled) choose(c *exec.Call) *match {
	for i := range p.matches {
		m := &p.matches[i]
		if _, tiled := m.way.(tiles); (tiled || !TilesOnly) && m.way.Takes(c) {
			return m
		}
	}
	panic("rules: the last rule takes every call")
}
