package decode_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BenchmarkBeam times what a search adds to its steps: a beam of 5 over 64
// sentences and 2,000 tokens, 30 steps long, of a model that only looks up a row.
func BenchmarkBeam(b *testing.B) {
	table := tensor.New(2000, 2000)
	table.Normal(rand.New(rand.NewPCG(1, 2)), 0, 1)
	logits := grad.Const(table)
	step := func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
		return t.Input(logits.Value()).Rows(l.Last), l.State
	}
	s := &decode.Search{Step: step, Begin: make([]int32, 64), End: decode.NoEnd, Longest: []int{30}}
	s.State = decode.State{grad.Const(tensor.New(1, 256)), grad.Const(tensor.New(1, 256))}
	beam := decode.Beam{Width: 5}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := beam.Run(s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(30*b.N), "µs/step")
}

// BenchmarkBeamLSTM is the same search of an LSTM of 256 over 2,000 tokens.
func BenchmarkBeamLSTM(b *testing.B) {
	w := newWriter(2000, 256)
	s := w.search(64, 30)
	s.End = decode.NoEnd
	beam := decode.Beam{Width: 5}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := beam.Run(s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(30*b.N), "µs/step")
}
