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

// aucOfPairs is the definition: of all pairs, those in order, ties half.
func aucOfPairs(scores []float64, positive []bool) float64 {
	sum, pairs := 0.0, 0.0
	for i, a := range scores {
		for j, b := range scores {
			if positive[i] && !positive[j] {
				pairs++
				switch {
				case a > b:
					sum++
				case a == b:
					sum += 0.5
				}
			}
		}
	}
	return sum / pairs
}

// precisionAtRecall is the definition: for each threshold, the precision times
// what the recall grows by.
func precisionAtRecall(scores []float64, positive []bool) float64 {
	all := 0.0
	for _, p := range positive {
		if p {
			all++
		}
	}
	at := func(threshold float64, strictly bool) (precision, recall float64) {
		said, right := 0.0, 0.0
		for i, v := range scores {
			if v > threshold || v == threshold && !strictly {
				said++
				if positive[i] {
					right++
				}
			}
		}
		return right / math.Max(said, 1), right / all
	}
	sum, seen := 0.0, map[float64]bool{}
	for _, v := range scores {
		if !seen[v] {
			seen[v] = true
			p, r := at(v, false)
			_, before := at(v, true)
			sum += p * (r - before)
		}
	}
	return sum
}

// Many scores are sorted in another way than few: they are as good in any order, and as those whose order is kept by few different numbers.
func TestRanksOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	const n = 1500
	for name, draw := range map[string]func() float64{
		"ties": func() float64 { return float64(rng.IntN(9)-4) / 4 }, "zeros of both signs": func() float64 { return math.Copysign(0, float64(rng.IntN(2))-0.5) },
		"float32": func() float64 { return float64(float32(rng.NormFloat64())) }, "float64": rng.NormFloat64,
		"all magnitudes": func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(600)-300) },
	} {
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], positive[i] = draw(), rng.IntN(20) == 0
		}
		if got, want := train.AUC(scores, positive), aucOfPairs(scores, positive); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: AUC %v, want %v", name, got, want)
		}
		if got, want := train.AveragePrecision(scores, positive), precisionAtRecall(scores, positive); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: average precision %v, want %v", name, got, want)
		}
	}
}

// TestRanks compares with the definitions, on scores with many ties and with
// none.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, values := range []int{2, 5, 1 << 30} {
		for n := 2; n < 60; n++ {
			scores, positive := make([]float64, n), make([]bool, n)
			for i := range scores {
				scores[i], positive[i] = float64(rng.IntN(values)), rng.IntN(3) == 0
			}
			positive[0], positive[1] = true, false
			if got, want := train.AUC(scores, positive), aucOfPairs(scores, positive); math.Abs(got-want) > 1e-12 {
				t.Fatalf("AUC of %v, %v: %v, want %v", scores, positive, got, want)
			}
			if got, want := train.AveragePrecision(scores, positive), precisionAtRecall(scores, positive); math.Abs(got-want) > 1e-12 {
				t.Fatalf("average precision of %v, %v: %v, want %v", scores, positive, got, want)
			}
		}
	}
}

func TestRankLimits(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		scores   []float64
		positive []bool
		auc, ap  float64
	}{
		"perfect":       {[]float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1, 1},
		"reversed":      {[]float64{4, 3, 2, 1}, []bool{false, false, true, true}, 0, (1.0/3 + 0.5) / 2},
		"all equal":     {[]float64{7, 7, 7}, []bool{true, false, false}, 0.5, 1.0 / 3},
		"infinities":    {[]float64{inf, -inf, 0}, []bool{true, false, false}, 1, 1},
		"no positive":   {[]float64{1, 2}, []bool{false, false}, nan, nan},
		"no negative":   {[]float64{1, 2}, []bool{true, true}, nan, 1},
		"nothing":       {nil, nil, nan, nan},
		"a NaN":         {[]float64{1, nan}, []bool{true, false}, nan, nan},
		"published one": {[]float64{0.1, 0.4, 0.35, 0.8}, []bool{false, false, true, true}, 0.75, (1 + 2.0/3) / 2},
	} {
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-15 }
		if got := train.AUC(c.scores, c.positive); !same(got, c.auc) {
			t.Errorf("%s: AUC is %v, want %v", name, got, c.auc)
		}
		if got := train.AveragePrecision(c.scores, c.positive); !same(got, c.ap) {
			t.Errorf("%s: average precision is %v, want %v", name, got, c.ap)
		}
	}
	if tensor.Try(func() { train.AUC([]float64{1}, nil) }) == nil {
		t.Error("slices of two lengths are no error")
	}
}

// TestClassAUC compares the columns with the AUC of probabilities worked out
// here.
func TestClassAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	logits, targets, labels := tensor.New(30, 3), tensor.New(30, 3), make([]int32, 30)
	logits.Normal(rng, 0, 2)
	for i := range labels {
		labels[i] = rng.Int32N(3)
		targets.Row(i)[labels[i]] = 1
	}
	classes, tags := train.ClassAUC(logits, labels), train.LabelAUC(logits, targets)
	for c := range 3 {
		var probability, logit []float64
		var positive []bool
		for r, label := range labels {
			x := logits.Row(r)
			sum := 0.0
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			probability = append(probability, math.Exp(float64(x[c]))/sum)
			logit = append(logit, float64(x[c]))
			positive = append(positive, label == int32(c))
		}
		if want := aucOfPairs(probability, positive); math.Abs(classes[c]-want) > 1e-12 {
			t.Errorf("class %d: %v, want %v", c, classes[c], want)
		}
		if want := aucOfPairs(logit, positive); math.Abs(tags[c]-want) > 1e-12 {
			t.Errorf("label %d: %v, want %v", c, tags[c], want)
		}
	}
}
