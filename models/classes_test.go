package models_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// classesOf is a goal of nodes with these classes.
func classesOf(outputs int, labels ...int32) *models.Goal {
	return &models.Goal{Of: form.OfNodes, Kind: columns.OneClass, Outputs: outputs, Labels: labels}
}

// rowsOf returns logits of classes, some of which tie, and the labels of their rows, a tenth of which are not known.
func rowsOf(rng *rand.Rand, n, classes int) (*tensor.Dense, []int32) {
	y, labels := tensor.New(n, classes), make([]int32, n)
	for i := range labels {
		for c := range classes {
			y.Row(i)[c] = tensor.Float(rng.IntN(7)) / 2
		}
		if labels[i] = int32(rng.IntN(classes)); rng.IntN(10) == 0 {
			labels[i] = -1
		}
	}
	return y, labels
}

func numbersTo(n int) (ids []int32) {
	for i := range int32(n) {
		ids = append(ids, i)
	}
	return ids
}

// chances returns the probability of a class in each row that has a label, by the formula in float64, and whether it is of the class.
func chances(y *tensor.Dense, labels []int32, class int) (p []float64, is []bool) {
	for i, label := range labels {
		if label < 0 {
			continue
		}
		sum := 0.0
		for _, v := range y.Row(i) {
			sum += math.Exp(float64(v))
		}
		p, is = append(p, math.Round(1e12*math.Exp(float64(y.Row(i)[class]))/sum)), append(is, int(label) == class)
	}
	return p, is
}

// auc is how many of all pairs are in order, ties one half.
func auc(p []float64, is []bool) float64 {
	sum, pairs := 0.0, 0.0
	for i, a := range p {
		for j, b := range p {
			if is[i] && !is[j] {
				pairs++
				if a > b {
					sum++
				} else if a == b {
					sum += 0.5
				}
			}
		}
	}
	return sum / pairs
}

// ap is the mean over the positives of the precision among all that are at least as likely.
func ap(p []float64, is []bool) float64 {
	sum, n := 0.0, 0.0
	for i, a := range p {
		if !is[i] {
			continue
		}
		right, said := 0.0, 0.0
		for j, b := range p {
			if b >= a {
				if said++; is[j] {
					right++
				}
			}
		}
		sum, n = sum+right/said, n+1
	}
	return sum / n
}

// The metrics of two classes are of the positive one, and those of more are means over them, on the examples that are asked about.
func TestMetricsOfClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, classes := range []int{2, 3} {
		y, labels := rowsOf(rng, 120, classes)
		ids, some := numbersTo(100), labels[:100]
		for positive := range min(classes, 2) {
			wants := map[string]float64{"auc": 0, "ap": 0}
			for c := range classes {
				share := 1 / float64(classes)
				if classes == 2 {
					if share = 1; c != positive {
						continue
					}
				}
				p, is := chances(y, some, c)
				wants["auc"] += share * auc(p, is)
				wants["ap"] += share * ap(p, is)
			}
			for metric, want := range wants {
				g := classesOf(classes, labels...)
				if g.Metric = metric; classes == 2 {
					g.Positive = positive
				}
				if got := g.Score(y, ids); math.Abs(got.Accuracy-want) > 1e-12 || got.Loss <= 0 {
					t.Errorf("%s of %d classes, of which %d is positive: %v, want %v", metric, classes, positive, got, want)
				}
				if got := g.Quick(y, ids).Accuracy; math.Abs(got-want) > 1e-12 {
					t.Errorf("quick %s: %v, want %v", metric, got, want)
				}
			}
		}
	}
}

// The threshold is the one of the best F1, by trying all, and of equal ones that which says yes the least often; what is decided by it has
// that F1.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for trial := range 200 {
		n := 3 + rng.IntN(30)
		y, labels := rowsOf(rng, n, 2)
		g := classesOf(2, labels...)
		g.Positive = trial % 2
		ids := numbersTo(n)
		p, values := make([]float64, 0, n), g.Values(y)
		for i := range n {
			p = append(p, float64(values.Row(i)[g.Positive]))
		}
		f1 := func(threshold float64) (f float64, said int) {
			right, all := 0, 0
			for i, label := range labels {
				if label < 0 {
					continue
				}
				is := int(label) == g.Positive
				if is {
					all++
				}
				if p[i] >= threshold {
					if said++; is {
						right++
					}
				}
			}
			return 2 * float64(right) / math.Max(1, float64(said+all)), said
		}
		best, fewest := 0.0, 0
		for _, threshold := range p {
			if f, said := f1(threshold); f > best+1e-12 || f > best-1e-12 && f > 0 && said < fewest {
				best, fewest = f, said
			}
		}
		g.Threshold = g.Cut(y, ids)
		if got, said := f1(g.Threshold); best == 0 != (g.Threshold == 0) || best > 0 && (math.Abs(got-best) > 1e-12 || said != fewest) {
			t.Fatalf("trial %d: the threshold %v has F1 %v of %d, want %v of %d", trial, g.Threshold, got, said, best, fewest)
		}
		if got := g.Counts(y, ids)[g.Positive].F1(); best > 0 && math.Abs(got-best) > 1e-12 {
			t.Fatalf("trial %d: what is decided has F1 %v, want %v", trial, got, best)
		}
		g.Metric = "f1"
		if got := g.Watch(y, datasets.Split{Train: ids, Val: ids}); best > 0 && (math.Abs(got.Val.Accuracy-best) > 1e-12 || got.Train.Accuracy != got.Val.Accuracy) {
			t.Fatalf("trial %d: it watches %v, want %v", trial, got, best)
		}
	}
	y := tensor.Of([]tensor.Float{0, 2, 0, -1, tensor.Float(math.NaN()), 0}, 3, 2)
	g := classesOf(2, 1, 0, 1)
	g.Positive = 1
	if got := g.Cut(y, numbersTo(2)); got != 0.6 { // between 0.27 and 0.88, of which 0.5753 is the middle
		t.Errorf("the threshold is %v, want 0.6", got)
	}
	if got := g.Cut(y, numbersTo(3)); got != 0 {
		t.Errorf("beside a probability that is none the threshold is %v", got)
	}
}

// The loss of weighted classes is Σ w·ℓ / Σ w, in training and in evaluation.
func TestWeightsOfClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	y, labels := rowsOf(rng, 50, 3)
	g := classesOf(3, labels...)
	g.Weights = []float64{0.25, 4, 0}
	sum, weight := 0.0, 0.0
	for i, label := range labels {
		if label >= 0 {
			all := 0.0
			for _, v := range y.Row(i) {
				all += math.Exp(float64(v))
			}
			w := g.Weights[label]
			sum, weight = sum+w*(math.Log(all)-float64(y.Row(i)[label])), weight+w
		}
	}
	ids := numbersTo(50)
	if got := g.Score(y, ids).Loss; math.Abs(got-sum/weight) > 1e-6 {
		t.Errorf("an evaluation has the loss %v, want %v", got, sum/weight)
	}
	if got := float64(g.Loss(ids, false)(grad.Const(y)).Value().Data[0]); math.Abs(got-sum/weight) > 1e-6 {
		t.Errorf("training has the loss %v, want %v", got, sum/weight)
	}
	if got := classesOf(3, 0, 0, 0, 0, 1, 1, -1, 2).Balanced(numbersTo(7)); got[0] != 6.0/2/4 || got[1] != 6.0/2/2 || got[2] != 1 {
		t.Errorf("balanced weights are %v", got)
	}
}

// Average precision is what is usual where one of two classes has less than a fifth of what trains, and that class is the positive one.
func TestUsualMetric(t *testing.T) {
	twenty := make([]int32, 20)
	for i := range twenty {
		twenty[i] = 1
	}
	split := func(val ...int32) datasets.Split { return datasets.Split{Train: numbersTo(20), Val: val} }
	for _, tt := range []struct {
		name     string
		zeros    int
		names    []string
		val      []int32
		metric   string
		positive int
	}{
		{"rare", 3, nil, []int32{0, 19}, "ap", 0},
		{"rare, whatever it is called", 3, []string{"no", "yes"}, []int32{0, 19}, "ap", 0},
		{"a fifth", 4, nil, []int32{0, 19}, "", 1},
		{"a fifth, by names", 4, []string{"Yes", "No"}, []int32{0, 19}, "", 0},
		{"a fifth, by no names", 4, []string{"left", "stayed"}, []int32{0, 19}, "", 0},
		{"as many", 10, []string{"a", "b"}, []int32{0, 19}, "", 1},
		{"none validates", 3, nil, []int32{18, 19}, "", 0},
		{"none at all", 0, nil, []int32{18, 19}, "", 1},
	} {
		labels := append([]int32(nil), twenty...)
		for i := range tt.zeros {
			labels[i] = 0
		}
		g := classesOf(2, labels...)
		g.Names = tt.names
		s := split(tt.val...)
		if err := g.Learn(s.Train); err != nil {
			t.Fatal(err)
		}
		if got := g.Usual(s); got != tt.metric || g.Positive != tt.positive {
			t.Errorf("%s: the metric is %q and the positive class %d, want %q and %d", tt.name, got, g.Positive, tt.metric, tt.positive)
		}
	}
}

// The loss of examples is the mean of that of two parts, by their weights: of classes with and without weights, of labels and of numbers,
// some of which are not known.
func TestWeightOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	y, labels := rowsOf(rng, 60, 3)
	plain, weighted := classesOf(3, labels...), classesOf(3, labels...)
	weighted.Weights = []float64{1, 5, 0.5}
	known := y.Clone()
	for i := range known.Data {
		if known.Data[i] = tensor.Float(rng.IntN(2)); rng.IntN(5) == 0 {
			known.Data[i] = tensor.Float(math.NaN())
		}
	}
	numbers := &models.Goal{Of: form.OfNodes, Kind: columns.Numbers, Outputs: 3, Numbers: known}
	if err := numbers.Learn(numbersTo(60)); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*models.Goal{"classes": plain, "weights": weighted, "labels": {Of: form.OfNodes, Kind: columns.Labels, Outputs: 3, Tags: known}, "numbers": numbers} {
		loss := func(ids []int32) float64 { return float64(g.Loss(ids, false)(grad.Const(y).Rows(ids)).Value().Data[0]) }
		all := numbersTo(60)
		a, b := all[:17], all[17:]
		got := (g.Weight(a)*loss(a) + g.Weight(b)*loss(b)) / (g.Weight(a) + g.Weight(b))
		if want := loss(all); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%s: the parts have %v, the whole %v", name, got, want)
		}
	}
}
