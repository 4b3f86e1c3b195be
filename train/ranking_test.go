package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// rankBySorting is the definition where nothing ties: sort what counts, and look.
func rankBySorting(scores []float64, candidate int, known []int32) float64 {
	var order []int
	for i := range scores {
		if i == candidate || !slices.Contains(known, int32(i)) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if scores[a] > scores[b] {
			return -1
		}
		return 1
	})
	return float64(slices.Index(order, candidate) + 1)
}

// rankOf is one rank.
func rankOf(scores []float64, candidate int, known []int32) float64 {
	var r train.Ranks
	r.Add(scores, candidate, known)
	return r[0]
}

func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 100 {
		scores := make([]float64, 2+rng.IntN(20))
		var known []int32
		for i := range scores {
			scores[i] = rng.Float64()
			if rng.IntN(3) == 0 {
				known = append(known, int32(i))
			}
		}
		k := rng.IntN(len(scores))
		if got, want := rankOf(scores, k, known), rankBySorting(scores, k, known); got != want {
			t.Fatalf("%d among %v without %v has rank %v, want %v", k, scores, known, got, want)
		}
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		scores []float64
		known  []int32
		want   float64
	}{
		"all tie":         {[]float64{1, 1, 1, 1, 1}, nil, 3},
		"ties are known":  {[]float64{1, 1, 1, 0, 0}, []int32{1, 2}, 1},
		"it is known too": {[]float64{1, 2, 0}, []int32{0, 1}, 1},
		"a NaN":           {[]float64{1, nan, 0}, nil, 2},
		"it is NaN":       {[]float64{nan, 1, 2}, nil, 3},
		"infinite":        {[]float64{math.Inf(1), 1, 2}, nil, 1},
	} {
		if got := rankOf(c.scores, 0, c.known); got != c.want {
			t.Errorf("%s: rank %v, want %v", name, got, c.want)
		}
	}
	if tensor.Try(func() { rankOf([]float64{1}, 1, nil) }) == nil {
		t.Error("a candidate without a score is no error")
	}
}

func ExampleRanks() {
	ranks := train.Ranks{1, 2, 4, 10} // of four right answers
	fmt.Println(ranks.Hits(1), ranks.Hits(3), ranks.Hits(10), ranks.MRR())
	// Output: 0.25 0.5 1 0.4625
}

// Two of three right answers are among the first three: 1/log₂2 + 1/log₂4 of what would be
// 1/log₂2 + 1/log₂3 + 1/log₂4.
func TestNDCG(t *testing.T) {
	want := 1.5 / (1.5 + 1/math.Log2(3))
	if got := (train.Ranks{1, 3, 7}).NDCG(3); math.Abs(got-want) > 1e-12 {
		t.Errorf("it is %v, want %v", got, want)
	}
	if got := (train.Ranks{2, 1}).NDCG(20); got != 1 {
		t.Errorf("of the two best it is %v", got)
	}
	if got := train.Ranks(nil).NDCG(3); !math.IsNaN(got) {
		t.Errorf("of no ranks it is %v", got)
	}
}

func TestHitsAbove(t *testing.T) {
	positives, negatives := []float64{5, 3, 1}, []float64{2, 4, 3, 0}
	for k, want := range map[int]float64{1: 1.0 / 3, 2: 1.0 / 3, 3: 2.0 / 3, 4: 1, 5: 1} {
		if got := train.HitsAbove(positives, negatives, k); got != want {
			t.Errorf("hits@%d is %v, want %v", k, got, want)
		}
	}
	if got := train.HitsAbove(nil, negatives, 1); !math.IsNaN(got) {
		t.Errorf("hits of nothing are %v", got)
	}
	if got := train.HitsAbove(positives, []float64{math.NaN()}, 1); !math.IsNaN(got) {
		t.Errorf("hits above a NaN are %v", got)
	}
	if !math.IsNaN(train.Ranks(nil).MRR()) || !math.IsNaN(train.Ranks(nil).Hits(1)) {
		t.Error("of no ranks there is a mean")
	}
}

func TestRegression(t *testing.T) {
	nan := tensor.Float(math.NaN())
	x, y := tensor.Of([]tensor.Float{1, 2, 3, 9}, 2, 2), tensor.Of([]tensor.Float{2, 2, 5, nan}, 2, 2)
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("MAE", train.MeasureNumbers(x, y).MAE, 1)
	near("RMSE", train.MeasureNumbers(x, y).RMSE, math.Sqrt(5.0/3))
	near("R²", train.MeasureNumbers(x, y).R2, 1-5.0/6) // the targets' mean is 3, their squares about it 1+1+4
	near("R² of the targets", train.MeasureNumbers(x, x).R2, 1)
	even := tensor.New(2, 2)
	if got := train.MeasureNumbers(x, even).R2; !math.IsNaN(got) {
		t.Errorf("R² of equal targets is %v", got)
	}
	if tensor.Try(func() { train.MeasureNumbers(x, tensor.New(2)) }) == nil {
		t.Error("two shapes are no error")
	}
}
