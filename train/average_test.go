package train_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestEMA(t *testing.T) {
	m := newLogistic()
	a := train.NewEMA(m, 0.9)
	want, last := 0.0, 0.0
	for i := range 20 {
		last = float64(i*i) + 3
		m.W.Value.Fill(tensor.Float(last))
		m.Mean.Value.Fill(tensor.Float(i))
		a.Update()
		if want = 0.9*want + 0.1*last; i == 0 {
			want = last
		}
	}
	a.Swap()
	if got := float64(m.W.Value.Data[3]); math.Abs(got-want) > 1e-4 {
		t.Errorf("the average is %v, want %v", got, want)
	}
	if got := m.Mean.Value.Data[0]; got != 19 {
		t.Errorf("a frozen Param is %v, want its last value", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an Update of the average by itself is no error")
			}
		}()
		a.Update()
	}()
	a.Swap()
	if got := float64(m.W.Value.Data[3]); got != last {
		t.Errorf("a second Swap gives %v, want %v", got, last)
	}
}
