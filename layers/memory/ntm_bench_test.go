package memory_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/memory"
)

// A step of learning to copy twenty rows, forwards and backwards.
func BenchmarkNTM(b *testing.B) {
	n := machine(1, memory.NTM{In: 10, Out: 8, Hidden: 100, Slots: 128, Width: 20})
	x := text.Task{Count: 16, Min: 20}.CopyBits()
	g, t, want := x.Graph(), grad.NewTape(1), grad.Const(x.Answer)
	b.ReportAllocs()
	for b.Loop() {
		t.Reset()
		t.Backward(n.Forward(t, g, t.Input(x.X)).Rows(x.At).BCE(want))
	}
}
