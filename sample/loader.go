package sample

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Batch is what one step reads.
type Batch struct {
	Step, Epoch uint64 // both from 1

	Seeds   []int32         // the nodes whose rows the last block gives, in this order
	Blocks  []*graph.Graph  // one for each layer; Blocks[0].From().Src are the nodes whose features are read
	X       tensor.Array    // their features; nil where the loader has none
	Weights []*tensor.Dense // of each block's edges, E×1; nil where none are asked for

	Edges    []int32 // where edges train: those of this step
	From, To []int32 // their ends, as places among Seeds
	Not      []int32 // where negatives are drawn: the other destinations of each edge, Negatives one after another, as places among Seeds

	Graphs []int32 // where whole graphs train: those of this step, which are the members of Blocks[0]

	// Where there are several types of nodes, in place of Blocks, X and, where edges train, Seeds. Weights are then those of
	// the edges to which From().Edges of a relation of Typed leads.
	Typed   []*hetero.Graph         // one for each layer
	Rows    map[string]tensor.Array // the features of each type
	SeedsOf map[string][]int32      // the nodes of each type whose rows the last block gives; From leads to those of the relation's Src, To and Not to its Dst
}

// Of returns what all holds of what trains in the batch, nodes, edges or graphs: their labels. It
// panics with a [*tensor.ShapeError] where one has none.
func (b *Batch) Of(all []int32) []int32 {
	for i, v := range b.examples() {
		if int(v) >= len(all) {
			panic(&tensor.ShapeError{Op: "sample.Batch.Of", Shapes: [][]int{{len(all)}}, Why: fmt.Sprintf("example %d of the batch is number %d, and there are %d labels", i, v, len(all))})
		}
	}
	return gatherOf(all, b.examples())
}

// examples is what trains in the batch.
func (b *Batch) examples() []int32 {
	switch {
	case b.Edges != nil:
		return b.Edges
	case b.Graphs != nil:
		return b.Graphs
	}
	return b.Seeds
}

// Loader makes the batches of a training. In each epoch every node is a seed once; or every edge is
// in one batch, whose seeds are the ends of its edges; or every graph. Their order is the epoch's own and
// follows from the seed and the epoch.
//
// A batch belongs to who reads it until that asks for the next one.
type Loader struct {
	Sampler
	Nodes    []int32       // that train
	Edges    []int32       // that train in their place, edges of Ends in its order
	Graphs   []int32       // that train in their place, members of Graph, which are read whole: there is no Fanout
	Size     int           // nodes, edges or graphs of a batch; the last of an epoch may have fewer
	Ordered  bool          // take them in their order in every epoch
	Features tensor.Array  // a row for each source of the graph; nil: none
	InPlace  bool          // X is Features itself, of all nodes, which are the sources of Blocks[0]: no rows are copied. It is for training a first layer that sums what it hears before it multiplies, and reads nothing else of X, as SAGEConv and GATConv do
	Weights  *tensor.Dense // a number for each edge, such as [layers.SymmetricWeights] gives; nil: none
	Sums     bool          // layers sum over in-edges: Weights, or 1, times the number of edges for which each drawn one stands
	Before   []int64       // where the sampler has Times: the time of each node, or edge of Ends, that trains; nil: of an edge of Graph its own

	Ends      *graph.Graph // of the same nodes, whose edges train, such as one without the loops of Graph; nil: Graph
	Hide      bool         // the edges of a batch carry no messages in it, nor do their reverses unless Directed
	Directed  bool         // u→v and v→u are two links
	Negatives int          // drawn for each edge: pairs of its source and another destination that no edge of Graph or Ends joins, in either direction unless Directed
	Others    Drawn        // how these destinations are drawn; empty: all nodes alike

	Hetero *hetero.Graph           // several types of nodes, in place of Graph and Ends; the fan-outs are each relation's, and Kinds, Odds and Times those of its Homogeneous
	Type   string                  // of Nodes
	Rel    hetero.Rel              // of Edges; what Hide leaves out are the edges of all relations
	Rows   map[string]tensor.Array // a row for each node of a type, in place of Features

	// Rank and Ranks are set where several processes share the batches: this one reads every Ranks-th of each epoch, beginning
	// with number Rank, counted from 0. The draws of a batch are the same, whoever makes it. 0 Ranks: all batches.
	Rank, Ranks int

	Ahead  int    // batches that are made while a step runs; 0: as many as threads can make; negative: none
	Epochs int    // that Batches goes through; 0: 1
	Done   uint64 // steps that lie behind a run that goes on: Batches begins after them

	typed *typed
}

// Check returns an error for nodes, sizes or arrays that do not fit the graph.
func (l *Loader) Check() error {
	_, err := l.ready()
	return err
}

// ready returns the loader that makes the batches, of one graph, if it can.
func (l *Loader) ready() (*Loader, error) {
	one, err := l.single()
	if err != nil {
		return nil, err
	}
	err = one.check()
	l.made = one.made
	return one, err
}

// check is Check of a loader of one type.
func (l *Loader) check() error {
	if l.Graphs != nil {
		return l.checkGraphs()
	}
	if err := l.Sampler.Check(); err != nil {
		return err
	}
	noun, n := "node", l.Graph.NumDst()
	if l.Edges != nil {
		if noun, n = "edge", l.ends().NumEdges(); l.ends().NumDst() != l.Graph.NumDst() || l.ends().NumSrc() != l.Graph.NumDst() {
			return fmt.Errorf("sample: the edges that train are of %v, and their ends' neighbours of %v, which has other nodes", l.ends(), l.Graph)
		}
	}
	if err := l.checkExamples(noun, n); err != nil {
		return err
	}
	if l.Times != nil {
		if n := len(l.timesOf()); n != l.withTime() {
			return fmt.Errorf("sample: Times for the edges, and %d times for %d %ss, up to which they are read: give Before one for each", n, l.withTime(), noun)
		}
	}
	if l.Times == nil && l.Before != nil {
		return fmt.Errorf("sample: Before has times, and the edges have none: give Times, too")
	}
	if err := l.checkLinks(); err != nil {
		return err
	}
	return l.checkRows()
}

// checkGraphs checks a loader of whole graphs.
func (l *Loader) checkGraphs() error {
	switch {
	case l.Graph == nil:
		return fmt.Errorf("sample: there are Graphs that train, and no Graph of which they are members")
	case l.layers() > 0 || l.Times != nil || l.Odds != nil:
		return fmt.Errorf("sample: graphs that train are read whole: leave Fanout, Kinds, Odds and Times out")
	}
	if err := l.checkExamples("graph", len(l.Graph.DstOffsets())-1); err != nil {
		return err
	}
	return l.checkRows()
}

// checkExamples checks that what trains is there once, and in batches of a size.
func (l *Loader) checkExamples(noun string, n int) error {
	seen := make([]bool, n)
	for i, v := range l.examples() {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("sample: %s %d of those that train is %d; there are %d", noun, i, v, n)
		}
		if seen[v] {
			return fmt.Errorf("sample: %s %d is twice among those that train", noun, v)
		}
		seen[v] = true
	}
	switch n := len(l.examples()); {
	case n == 0:
		return fmt.Errorf("sample: no Nodes to train on, and no Edges or Graphs")
	case l.Size < 1:
		return fmt.Errorf("sample: Size is %d; it is the number of %ss of a batch", l.Size, noun)
	case l.Size > n:
		return fmt.Errorf("sample: Size is %d, and %d %ss train: make it %d or less", l.Size, n, noun, n)
	case l.Ranks < 0 || l.Rank < 0 || l.Rank >= max(1, l.Ranks):
		return fmt.Errorf("sample: Rank is %d of %d Ranks; ranks are counted from 0", l.Rank, l.Ranks)
	case l.Epochs < 0:
		return fmt.Errorf("sample: Epochs is %d; 0 means 1", l.Epochs)
	}
	return nil
}

// checkRows checks the arrays.
func (l *Loader) checkRows() error {
	if l.InPlace && (l.Times != nil || l.Graphs != nil || l.typed != nil) {
		return fmt.Errorf("sample: InPlace is for one graph of one type of nodes without Times: leave it out")
	}
	if l.Features != nil && l.Features.Shape()[0] != l.Graph.NumSrc() {
		return fmt.Errorf("sample: features of shape %v for %d nodes", l.Features.Shape(), l.Graph.NumSrc())
	}
	if l.Weights != nil && len(l.Weights.Data) != l.Graph.NumEdges() {
		return fmt.Errorf("sample: weights of shape %v for %d edges", l.Weights.Shape(), l.Graph.NumEdges())
	}
	return nil
}

// examples are the nodes that train, or the edges, or the graphs.
func (l *Loader) examples() []int32 {
	switch {
	case l.Graphs != nil:
		return l.Graphs
	case l.Edges != nil:
		return l.Edges
	}
	return l.Nodes
}

// Steps returns the number of batches of an epoch.
func (l *Loader) Steps() int { return (len(l.examples()) + l.Size - 1) / max(1, l.Size) }

// Batches makes the batches of all epochs, in their order, for a loop over them:
//
//	for b, err := range l.Batches(ctx) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// The next ones are made on other goroutines meanwhile; these end with the loop. An error
// is the last that it gives: what [Loader.Check] says, or ctx.Err().
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		s, err := l.open(ctx, l.firstFrom(l.Done+1))
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		s.end = uint64(max(1, l.Epochs))*uint64(l.Steps()) + 1
		for s.next < s.end {
			b, err := s.read()
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// firstFrom returns the first step from n on that this rank reads.
func (l *Loader) firstFrom(n uint64) uint64 {
	ranks, steps := uint64(max(1, l.Ranks)), uint64(l.Steps())
	if n < 1 || steps == 0 {
		return n
	}
	at := (n - 1) % steps // in its epoch
	at += (uint64(l.Rank) + ranks - at%ranks) % ranks
	if n -= (n - 1) % steps; at < steps {
		return n + at
	}
	if uint64(l.Rank) < steps {
		return n + steps + uint64(l.Rank)
	}
	return math.MaxUint64 // there are more ranks than batches
}

// after returns the step that this rank reads after one.
func (l *Loader) after(step uint64) uint64 {
	ranks, steps := uint64(max(1, l.Ranks)), uint64(l.Steps())
	if (step-1)%steps+ranks < steps {
		return step + ranks
	}
	return l.firstFrom(step - (step-1)%steps + steps)
}

// Into makes b the batch of each step of a [train.Fit] whose Next it is; Epochs and Done are
// the Fit's there.
//
//	var b *sample.Batch
//	fit.Steps, fit.Next = l.Steps(), l.Into(&b)
//
// [train.Fit]: https://pkg.go.dev/github.com/edgewise-ml/edgewise/train#Fit
func (l *Loader) Into(b **Batch) func(ctx context.Context, step uint64) error {
	if b == nil {
		panic(&tensor.ShapeError{Op: "sample.Loader.Into", Why: "there is no place for the batches: b is nil"})
	}
	var s *stream
	return func(ctx context.Context, step uint64) (err error) {
		if s == nil || s.next != step || s.ctx.Err() != nil {
			if s != nil {
				s.close()
			}
			if s, err = l.open(ctx, step); err != nil {
				return err
			}
			s.end = math.MaxUint64
		}
		if *b, err = s.read(); err != nil {
			s.close()
			s = nil
		}
		return err
	}
}

// ahead is how many batches are prepared.
func (l *Loader) ahead() uint64 {
	switch {
	case l.Ahead < 0 || l.Ahead == 0 && par.Threads() == 1:
		return 0
	case l.Ahead == 0:
		return uint64(makersMost()) + 1
	}
	return uint64(l.Ahead)
}

// weigh returns the weights of a hop's edges, nil if there are none.
func (l *Loader) weigh(h hop) *tensor.Dense {
	if l.Weights == nil && !l.Sums {
		return nil
	}
	w := tensor.New(h.block.NumEdges(), 1)
	for k, e := range h.block.From().Edges {
		n := 1.0
		if h.scales != nil {
			n = h.scales[k]
		}
		if l.Weights != nil {
			n *= float64(l.Weights.Data[e])
		}
		w.Data[k] = tensor.Float(n)
	}
	return w
}
