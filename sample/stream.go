package sample

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// stream makes the batches of a run in their order: some ahead of who reads them, each on one
// thread that loops do without meanwhile. What takes longest of a batch, the rows that it
// gathers, is in pieces, so that a reader who would wait for it takes some.
type stream struct {
	l      *Loader
	ctx    context.Context
	cancel context.CancelFunc
	next   uint64 // the step whose batch is read next
	end    uint64 // the first step that is not of the run
	last   *Batch // that was read last

	mu     sync.Mutex // of what stands below
	coming []*coming  // those after the last, in their order
	makers int        // that were sent for to make them
	making int        // of these who have begun
	ended  sync.Cond  // when none of them is left
	closed bool
	spare  []*tensor.Dense

	ordering sync.Mutex
	orders   map[uint64][]int32 // of the examples, by epoch
}

// coming is a batch in the making.
type coming struct {
	batch  *Batch
	err    error
	begun  bool
	rows   chan struct{} // closed when rows can be gathered
	gather gathering
}

func newComing(step uint64) *coming {
	return &coming{batch: &Batch{Step: step}, rows: make(chan struct{}), gather: gathering{done: make(chan struct{})}}
}

// open begins the steps from next on.
func (l *Loader) open(ctx context.Context, next uint64) (*stream, error) {
	one, err := l.ready()
	if err != nil {
		return nil, err
	}
	if next < 1 {
		return nil, fmt.Errorf("sample: step 0: steps are numbered from 1, as a tape's are after its first Reset")
	}
	s := &stream{l: one, next: next, orders: map[uint64][]int32{}}
	s.ended.L = &s.mu
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s, nil
}

// close ends the goroutines and waits for them.
func (s *stream) close() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closed = true; s.making > 0; {
		s.ended.Wait()
	}
}

// read returns the next batch; the one before belongs to the stream again.
func (s *stream) read() (*Batch, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	s.reuse()
	c, begun := s.begin()
	if !begun {
		c.make(s)
	}
	select {
	case <-c.rows:
		c.gather.help(s.ctx)
	case <-c.gather.done:
	}
	<-c.gather.done
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, c.err
	}
	s.next = s.l.after(s.next)
	s.last = c.batch
	return c.batch, nil
}

// begin has makers begin what is to come, and returns the first of it, and whether one
// makes it.
func (s *stream) begin() (first *coming, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uint64(len(s.coming)) <= s.l.ahead() {
		step := s.next
		if n := len(s.coming); n > 0 {
			step = s.l.after(s.coming[n-1].batch.Step)
		}
		if step >= s.end {
			break
		}
		s.coming = append(s.coming, newComing(step))
	}
	first, s.coming = s.coming[0], s.coming[1:]
	begun, first.begun = first.begun, true
	for s.makers < min(makersMost(), len(s.coming)) {
		s.makers++
		par.Aside(s.work)
	}
	return first, begun
}

// makersMost is how many batches are made at once beside a step.
func makersMost() int { return max(1, par.Threads()/2) }

// work makes batches until there is none to begin.
func (s *stream) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.making++
	for c := s.claim(); c != nil; c = s.claim() {
		s.mu.Unlock()
		c.make(s)
		s.mu.Lock()
	}
	s.makers--
	if s.making--; s.making == 0 {
		s.ended.Broadcast()
	}
}

// claim returns a batch that is to be made, nil if there is none.
func (s *stream) claim() *coming {
	for _, c := range s.coming {
		if !c.begun && !s.closed {
			c.begun = true
			return c
		}
	}
	return nil
}

// make draws the batch's blocks and gathers its rows.
func (c *coming) make(s *stream) {
	if c.err = s.l.fill(s, c.batch); c.err != nil {
		close(c.gather.done)
		return
	}
	x, dense := s.l.Features.(*tensor.Dense)
	if !dense || s.l.InPlace {
		close(c.gather.done)
		return
	}
	rows := c.batch.Blocks[0].From().Src
	y := s.take(len(rows), x.RowLen())
	c.batch.X = y
	c.gather.begin(y, x, rows)
	close(c.rows)
	c.gather.help(s.ctx)
}

// fill makes what a batch of a step is, but for dense rows. A panic is an error of it.
func (l *Loader) fill(s *stream, b *Batch) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("sample: the batch of step %d: %v\n%s", b.Step, v, debug.Stack())
		}
	}()
	steps := uint64(l.Steps())
	epoch, at := (b.Step-1)/steps, int((b.Step-1)%steps)
	order := s.order(epoch)
	b.Epoch = epoch + 1
	some := order[at*l.Size : min((at+1)*l.Size, len(order))]
	if l.Graphs != nil {
		b.Graphs = some
		err = l.members(b)
	} else {
		err = l.draw(s.ctx, b, some)
	}
	if l.typed != nil && err == nil {
		err = l.typed.split(b)
	}
	if err != nil {
		return err
	}
	if l.InPlace {
		b.X = l.Features
	} else if a, ok := l.Features.(*sparse.CSR); ok {
		b.X = sparse.GatherRows(a, b.Blocks[0].From().Src)
	}
	return nil
}

// draw draws the blocks of a batch of nodes or edges.
func (l *Loader) draw(ctx context.Context, b *Batch, some []int32) (err error) {
	a := asked{seeds: some}
	if l.Edges != nil {
		b.Edges = some
		if a, err = l.seat(b, b.Epoch-1); err != nil {
			return err
		}
	} else if b.Seeds = some; l.Times != nil {
		for _, v := range some {
			a.times = append(a.times, l.Before[v])
		}
	}
	a.inPlace = l.InPlace
	a.ctx, a.epoch, a.scales = ctx, b.Epoch-1, l.Sums || l.Weights != nil
	hops := make([]hop, l.layers())
	if err := l.hops(hops, a); err != nil {
		return err
	}
	for _, h := range hops {
		b.Blocks = append(b.Blocks, h.block)
		if w := l.weigh(h); w != nil {
			b.Weights = append(b.Weights, w)
		}
	}
	return nil
}

// members makes a batch of whole graphs.
func (l *Loader) members(b *Batch) error {
	g, err := graph.Members(l.Graph, b.Graphs)
	if err != nil {
		return err
	}
	b.Blocks = []*graph.Graph{g}
	if w := l.weigh(hop{block: g}); w != nil {
		b.Weights = []*tensor.Dense{w}
	}
	return nil
}

// gathering copies rows in pieces, which several goroutines take.
type gathering struct {
	to, from   *tensor.Dense
	rows       []int32
	piece      int
	next, left atomic.Int64
	done       chan struct{} // closed when all are copied, or nothing is to be
}

// begin makes the pieces so small that none of them is a loop for several threads.
func (g *gathering) begin(to, from *tensor.Dense, rows []int32) {
	g.to, g.from, g.rows, g.piece = to, from, rows, pieceRows(from.RowLen())
	n := (len(rows) + g.piece - 1) / g.piece
	if g.left.Store(int64(n)); n == 0 {
		close(g.done)
	}
}

// pieceRows is how many rows of a width a piece has.
func pieceRows(width int) int { return max(1, min(2048, (1<<14)/max(1, width))) }

// eachPiece calls f with the ends of pieces of n rows of a width.
func eachPiece(width, n int, f func(lo, hi int)) {
	for lo := 0; lo < n; lo += pieceRows(width) {
		f(lo, min(lo+pieceRows(width), n))
	}
}

// copyRows copies rows from lo to hi of those that are named.
func copyRows(to, from *tensor.Dense, rows []int32, lo, hi int) {
	w := from.RowLen()
	tensor.GatherRows(tensor.Of(to.Data[lo*w:hi*w], hi-lo, w), tensor.Of(from.Data, from.Rows(), w), rows[lo:hi])
}

// help copies until no piece is left to take. After a cancel the rest is left as it is.
func (g *gathering) help(ctx context.Context) {
	for {
		lo := int(g.next.Add(1)-1) * g.piece
		if lo >= len(g.rows) {
			return
		}
		hi := min(lo+g.piece, len(g.rows))
		if ctx.Err() == nil {
			copyRows(g.to, g.from, g.rows, lo, hi)
		}
		if g.left.Add(-1) == 0 {
			close(g.done)
		}
	}
}

// order returns what trains in the order of an epoch.
func (s *stream) order(epoch uint64) []int32 {
	if s.l.Ordered {
		return s.l.examples()
	}
	s.ordering.Lock()
	defer s.ordering.Unlock()
	if order, ok := s.orders[epoch]; ok {
		return order
	}
	for e := range s.orders {
		if e+1 < epoch {
			delete(s.orders, e)
		}
	}
	order := slices.Clone(s.l.examples())
	rng := rand.New(rand.NewPCG(s.l.Seed, epoch+1))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	s.orders[epoch] = order
	return order
}

// take returns an array of rows, of a batch that is over if there is one.
func (s *stream) take(rows, width int) *tensor.Dense {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.spare); n > 0 {
		x := s.spare[n-1]
		s.spare = s.spare[:n-1]
		if cap(x.Data) >= rows*width {
			return tensor.Of(x.Data[:rows*width], rows, width)
		}
	}
	room := make([]tensor.Float, rows*width+rows*width/8) // the next batch may have some more
	return tensor.Of(room[:rows*width], rows, width)
}

// reuse takes back the memory of the last batch.
func (s *stream) reuse() {
	if s.last == nil {
		return
	}
	if x, ok := s.last.X.(*tensor.Dense); ok && !s.l.InPlace {
		s.mu.Lock()
		s.spare = append(s.spare, x)
		s.mu.Unlock()
		s.last.X = nil
	}
	s.last = nil
}
