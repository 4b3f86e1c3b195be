package grad_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// framed returns a frame of four rows behind one, written from x, and their way back.
func framed(x *grad.Var) (f tape.Frame, order, rank []int32) {
	f = tape.NewFrame(grad.Begin("test", x), 5, 2)
	f.Write(0, x.RowRange(0, 1))
	f.Write(1, x)
	return f, []int32{2, 0, 3, 1}, []int32{1, 3, 0, 2}
}

// Rows that are sorted later are moved when they are read, by whom ever, and have the
// values and the gradient of those that are moved at once; unread they cost no gradient.
func TestSortedLater(t *testing.T) {
	p := grad.NewParam(4, 2)
	for i := range p.Value.Data {
		p.Value.Data[i] = tensor.Float(i + 1)
	}
	run := func(later bool, read func(y *grad.Var)) (y *grad.Var, grads []tensor.Float, ops []string) {
		tp := grad.NewTape(1)
		x := tp.Use(p)
		f, order, rank := framed(x)
		sorted := f.Sorted
		if later {
			sorted = f.SortedLater
		}
		y = sorted(1, order, rank)
		loss := x.Mul(x).Sum() // a further operation leaves y alone
		if grad.Unread(y) != later {
			t.Errorf("later %v: unread is %v", later, grad.Unread(y))
		}
		if read != nil {
			read(y)
			loss = loss.Add(y.Mul(y).Mul(y).Sum())
		}
		if grad.Unread(y) != (later && read == nil) {
			t.Errorf("later %v: unread is %v at the end", later, grad.Unread(y))
		}
		return y, slices.Clone(tp.Backward(loss).Of(x).Data), tp.Operations()
	}
	several := func(y *grad.Var) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { y.Value() })
		}
		wg.Wait()
	}
	for name, read := range map[string]func(y *grad.Var){
		"nobody": nil, "an operation": func(*grad.Var) {}, "Value": func(y *grad.Var) { y.Value() }, "goroutines": several,
	} {
		y, dx, ops := run(true, read)
		z, want, plain := run(false, read)
		if !slices.Equal(dx, want) || !slices.Equal(ops, plain) {
			t.Errorf("read by %s: gradient %v, want %v; operations %v, want %v", name, dx, want, ops, plain)
		}
		if !slices.Equal(y.Value().Data, z.Value().Data) { // of nobody read after Backward
			t.Errorf("read by %s: %v, want %v", name, y.Value().Data, z.Value().Data)
		}
	}
}

// What an operation has set in its room is not copied, and its gradient is the frame's.
func TestFrameRoom(t *testing.T) {
	p := grad.NewParam(2, 3)
	p.Value.Fill(2)
	tp := grad.NewTape(1)
	x := tp.Use(p)
	f := tape.NewFrame(grad.Begin("test", x), 4, 3)
	f.Write(0, x)
	op := grad.Begin("triple", x)
	y := f.Room(2, 4)
	for i, v := range x.Value().Data {
		y.Value().Data[i] = 3 * v
	}
	op.Record(y, func(dy *tensor.Dense) {
		for i, g := range dy.Data {
			x.Grad().Data[i] += 3 * g
		}
	})
	f.Write(2, y)
	if all := f.View(0, 4).Value().Data; &all[6] != &y.Value().Data[0] || all[6] != 6 {
		t.Errorf("the room is not the frame's: %v", all)
	}
	dx := tp.Backward(f.View(1, 4).Sum()).Of(x)
	if want := []tensor.Float{3, 3, 3, 4, 4, 4}; !slices.Equal(dx.Data, want) {
		t.Errorf("gradient %v, want %v", dx.Data, want)
	}
	if none := tape.NewFrame(grad.Begin("test"), 2, 1); none.Room(0, 1) != nil {
		t.Error("a frame of no tape has a room")
	}
}
