package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Batch is what one step reads.
type Batch struct {
	Seeds   []int32         // the nodes whose rows the last block gives, in this order
	Blocks  []*graph.Graph  // one for each layer; Blocks[0].From().Src are the nodes whose features are read
	X       tensor.Array    // their features; nil where the loader has none
	Weights []*tensor.Dense // of each block's edges, E×1; nil where the loader has none

	Edges    []int32 // where edges train: those of this step
	From, To []int32 // their ends, as places among Seeds
}

// Of returns what all holds of the seeds, or of Edges where edges train: their labels.
func (b *Batch) Of(all []int32) []int32 {
	examples := b.Seeds
	if b.Edges != nil {
		examples = b.Edges
	}
	out := make([]int32, len(examples))
	for i, v := range examples {
		out[i] = all[v]
	}
	return out
}

// Loader makes the batches of a training. In each epoch every node is a seed once, or every edge is
// in one batch, whose seeds are the ends of its edges; their order is the epoch's own and follows from
// the seed and the epoch.
//
// It belongs to one goroutine, and a batch until that asks for the next.
type Loader struct {
	Sampler
	Nodes    []int32       // that train
	Edges    []int32       // that train in their place, edges of Ends in its order; nil: nodes do
	Ends     *graph.Graph  // of the same nodes, such as one without the loops of Graph; nil: Graph
	Size     int           // nodes, or edges, of a batch; the last of an epoch may have fewer
	Ordered  bool          // take them in their order in every epoch
	Features tensor.Array  // a row for each source of the graph; nil: none
	Weights  *tensor.Dense // a number for each edge, such as [layers.SymmetricWeights] gives; nil: none
	Ahead    int           // batches that are prepared while a step runs; 0: 2, or none on a single thread; negative: none

	checked bool
	coming  map[uint64]*coming
	orders  map[uint64][]int32
	last    *Batch
	mu      sync.Mutex // of spare
	spare   []*tensor.Dense
}

// coming is a batch in the making.
type coming struct {
	batch *Batch
	err   error
	done  chan struct{}
}

// Check returns an error for nodes, sizes or arrays that do not fit the graph.
func (l *Loader) Check() error {
	if err := l.Sampler.Check(); err != nil {
		return err
	}
	noun, n := "node", l.Graph.NumDst()
	if l.Edges != nil {
		if noun, n = "edge", l.ends().NumEdges(); l.ends().NumDst() != l.Graph.NumDst() || l.ends().NumSrc() != l.Graph.NumDst() {
			return fmt.Errorf("sample: the edges that train are of %v, and their ends' neighbours of %v, which has other nodes", l.ends(), l.Graph)
		}
	}
	seen := make([]bool, n)
	for i, v := range l.examples() {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("sample: %s %d of those that train is %d; the graph has %d", noun, i, v, n)
		}
		if seen[v] {
			return fmt.Errorf("sample: %s %d is twice among those that train", noun, v)
		}
		seen[v] = true
	}
	switch {
	case len(l.examples()) == 0:
		return fmt.Errorf("sample: no Nodes to train on, and no Edges")
	case l.Size < 1:
		return fmt.Errorf("sample: Size is %d; it is the number of seeds of a batch", l.Size)
	case l.Features != nil && l.Features.Shape()[0] != l.Graph.NumSrc():
		return fmt.Errorf("sample: features of shape %v for %d nodes", l.Features.Shape(), l.Graph.NumSrc())
	case l.Weights != nil && len(l.Weights.Data) != l.Graph.NumEdges():
		return fmt.Errorf("sample: weights of shape %v for %d edges", l.Weights.Shape(), l.Graph.NumEdges())
	}
	return nil
}

// Steps returns the number of batches of an epoch.
func (l *Loader) Steps() int { return (len(l.examples()) + l.Size - 1) / max(1, l.Size) }

// At returns the batch of a step, which are numbered from 1 through all epochs as
// [grad.Tape.Step] does. The steps after it are begun on other goroutines. It
// panics with a [*tensor.ShapeError] where Check returns an error.
func (l *Loader) At(step uint64) *Batch {
	l.ready(step)
	c := l.coming[step]
	l.reuse()
	for s := range l.coming {
		if s < step || s > step+l.ahead() {
			delete(l.coming, s) // of a run that is over
		}
	}
	if c == nil {
		c = l.begin(step)
		c.make(l, step)
	}
	for s := step + 1; s <= step+l.ahead(); s++ {
		if l.coming[s] == nil {
			go l.begin(s).make(l, s)
		}
	}
	<-c.done
	delete(l.coming, step)
	if c.err != nil {
		panic(&tensor.ShapeError{Op: "sample.Loader.At", Why: c.err.Error()})
	}
	l.last = c.batch
	return c.batch
}

// ready checks the loader once.
func (l *Loader) ready(step uint64) {
	if step < 1 {
		panic(&tensor.ShapeError{Op: "sample.Loader.At", Why: "step 0: steps are numbered from 1, as a tape's are after its first Reset"})
	}
	if l.checked {
		return
	}
	if err := l.Check(); err != nil {
		panic(&tensor.ShapeError{Op: "sample.Loader.At", Why: err.Error()})
	}
	l.checked, l.coming, l.orders = true, map[uint64]*coming{}, map[uint64][]int32{}
}

// ahead is how many batches are prepared.
func (l *Loader) ahead() uint64 {
	switch {
	case l.Ahead < 0 || l.Ahead == 0 && par.Threads() == 1:
		return 0
	case l.Ahead == 0:
		return 2
	}
	return uint64(l.Ahead)
}

// begin returns a batch that has its seeds.
func (l *Loader) begin(step uint64) *coming {
	steps := uint64(l.Steps())
	epoch, i := (step-1)/steps, int((step-1)%steps)
	order := l.order(epoch)
	c := &coming{batch: &Batch{Seeds: order[i*l.Size : min((i+1)*l.Size, len(order))]}, done: make(chan struct{})}
	if l.Edges != nil {
		c.batch.end(l.ends())
	}
	l.coming[step] = c
	return c
}

// order returns what trains in the order of an epoch.
func (l *Loader) order(epoch uint64) []int32 {
	if l.Ordered {
		return l.examples()
	}
	if order, ok := l.orders[epoch]; ok {
		return order
	}
	for e := range l.orders {
		if e+1 != epoch {
			delete(l.orders, e)
		}
	}
	order := slices.Clone(l.examples())
	rng := rand.New(rand.NewPCG(l.Seed, epoch+1))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	l.orders[epoch] = order
	return order
}

// make draws the batch's blocks and gathers its rows.
func (c *coming) make(l *Loader, step uint64) {
	defer close(c.done)
	epoch := (step - 1) / uint64(l.Steps())
	b := c.batch
	if b.Blocks, c.err = l.Blocks(b.Seeds, epoch); c.err != nil {
		return
	}
	b.X = l.gather(b.Blocks[0].From().Src)
	if l.Weights == nil {
		return
	}
	for i, block := range b.Blocks {
		b.Weights = append(b.Weights, l.weigh(block, epoch, i))
	}
}

// gather returns the features of some nodes.
func (l *Loader) gather(nodes []int32) tensor.Array {
	switch x := l.Features.(type) {
	case *sparse.CSR:
		return sparse.GatherRows(x, nodes)
	case *tensor.Dense:
		y := l.take(len(nodes), x.RowLen())
		tensor.GatherRows(y, x, nodes)
		return y
	}
	return nil
}

// weigh returns the weights of a block's edges, each as often as there are edges for
// which it stands.
func (l *Loader) weigh(block *graph.Graph, epoch uint64, layer int) *tensor.Dense {
	from := block.From()
	w := tensor.New(block.NumEdges(), 1)
	tensor.GatherRows(w, tensor.Of(l.Weights.Data, len(l.Weights.Data), 1), from.Edges)
	if l.Fanout[layer] == 0 {
		return w
	}
	d, offsets := l.draws(epoch, layer), block.In().Offsets
	for i, v := range from.Dst {
		r := d.row(v)
		if r.whole {
			continue
		}
		for k := offsets[i]; k < offsets[i+1]; k++ {
			if int(from.Edges[k]) != r.first+r.loop || r.loop < 0 {
				w.Data[k] *= tensor.Float(r.scale())
			}
		}
	}
	return w
}

// take returns an array of rows, of a batch that is over if there is one.
func (l *Loader) take(rows, width int) *tensor.Dense {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.spare); n > 0 {
		x := l.spare[n-1]
		l.spare = l.spare[:n-1]
		if cap(x.Data) >= rows*width {
			return tensor.Of(x.Data[:rows*width], rows, width)
		}
	}
	room := make([]tensor.Float, rows*width+rows*width/8) // the next batch may have some more
	return tensor.Of(room[:rows*width], rows, width)
}

// reuse takes back the memory of the last batch.
func (l *Loader) reuse() {
	if l.last == nil {
		return
	}
	if x, ok := l.last.X.(*tensor.Dense); ok {
		l.mu.Lock()
		l.spare = append(l.spare, x)
		l.mu.Unlock()
		l.last.X = nil
	}
	l.last = nil
}
