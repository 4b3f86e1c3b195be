package datasets

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The labels of rows are in the order of the rows, with what is not known, and are no view.
func TestLabelsOf(t *testing.T) {
	l := Labels{5, 6, -1, 8}
	got := l.Of([]int32{3, 2, 0, 3})
	if !slices.Equal(got, []int32{8, -1, 5, 8}) {
		t.Errorf("they are %d", got)
	}
	got[0] = 1
	if l[3] != 8 || len(l.Of(nil)) != 0 {
		t.Errorf("labels are %d", l)
	}
	for row, why := range map[int32]string{4: "no row 4", -1: "no row -1"} {
		err := tensor.Try(func() { l.Of([]int32{0, row}) })
		if err == nil || !errors.As(err, new(*tensor.ShapeError)) || !strings.Contains(err.Error(), why) {
			t.Errorf("row %d: error is %v", row, err)
		}
	}
}

// Homophily is what the paper's formula says of every pair of ends written out, among some nodes or all, and of two classes the
// correlation of 0 and 1.
func TestHomophily(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	const n, classes = 60, 4
	var src, dst []int32
	labels, two, values := make(Labels, n), make(Labels, n), tensor.New(n, 2)
	for v := range int32(n) {
		labels[v], two[v] = int32(rng.IntN(classes+1))-1, int32(rng.IntN(2))
		values.Row(int(v))[0], values.Row(int(v))[1] = tensor.Float(two[v]), tensor.Float(rng.NormFloat64()*1e3+1e4)
		for range 5 {
			src, dst = append(src, int32(rng.IntN(n))), append(dst, v) // loops among them
		}
	}
	values.Row(7)[1] = tensor.Float(math.NaN())
	g := graph.Must(graph.New(n, src, dst))
	among := []int32{3, 7, 9, 11}
	for v := int32(12); v < n; v += 2 {
		among = append(among, v)
	}
	for _, some := range [][]int32{nil, among} {
		h, edges := (&Dataset{Graph: g, Labels: labels, Classes: classes}).Homophily(some)
		want, count := homophilyOracle(src, dst, labels, classes, some)
		if edges != count || math.Abs(h-want) > 1e-12 {
			t.Errorf("of classes %v over %d edges, want %v over %d", h, edges, want, count)
		}
		binary, _ := (&Dataset{Graph: g, Labels: two, Classes: 2}).Homophily(some)
		first := tensor.New(n, 1)
		for v := range n {
			first.Data[v] = values.Row(v)[0]
		}
		if r, _ := (&Dataset{Graph: g, Targets: first}).Homophily(some); math.Abs(r-binary) > 1e-12 {
			t.Errorf("the correlation is %v, the homophily of the same two classes %v", r, binary)
		}
		tags := &Dataset{Graph: g, MultiLabels: sparse.FromDense(first), Classes: 1}
		if r, _ := tags.Homophily(some); math.Abs(r-binary) > 1e-12 {
			t.Errorf("of a label it is %v, of the same two classes %v", r, binary)
		}
		both, _ := (&Dataset{Graph: g, Targets: values}).Homophily(some)
		if want := (binary + pearsonOracle(src, dst, values, some)) / 2; math.Abs(both-want) > 1e-9 {
			t.Errorf("of two numbers %v, want %v", both, want)
		}
	}
	for name, d := range map[string]*Dataset{
		"nothing": {Graph: g}, "one class": {Graph: g, Labels: make(Labels, n), Classes: 2}, "no edges": {Graph: graph.Must(graph.New(n, nil, nil)), Labels: two, Classes: 2},
		"one number": {Graph: g, Targets: tensor.New(n, 1)},
	} {
		if h, _ := d.Homophily(nil); h == h {
			t.Errorf("%s: it is %v", name, h)
		}
	}
}

// countedOracle reports whether an edge counts.
func countedOracle(u, v int32, some []int32) bool {
	return u != v && (some == nil || slices.Contains(some, u) && slices.Contains(some, v))
}

// homophilyOracle writes out the paper's formula on the graph with both directions of each edge: D is the sum of degrees of a class.
func homophilyOracle(src, dst []int32, labels Labels, classes int, some []int32) (h float64, edges int) {
	degrees, same := make([]int, classes), 0
	for i, u := range src {
		v := dst[i]
		if !countedOracle(u, v, some) || labels[u] < 0 || labels[v] < 0 {
			continue
		}
		edges++
		for c := range classes {
			for _, end := range []int32{u, v} {
				if int(labels[end]) == c {
					degrees[c]++
				}
			}
		}
		if labels[u] == labels[v] {
			same++
		}
	}
	sum := 0.0
	for _, d := range degrees {
		sum += float64(d) * float64(d) / (4 * float64(edges) * float64(edges))
	}
	return (float64(same)/float64(edges) - sum) / (1 - sum), edges
}

// pearsonOracle is Pearson's formula on the second column of both directions of each edge.
func pearsonOracle(src, dst []int32, values *tensor.Dense, some []int32) float64 {
	var n, x, y, xx, yy, xy float64
	for i := range src {
		a, b := float64(values.Row(int(src[i]))[1]), float64(values.Row(int(dst[i]))[1])
		if !countedOracle(src[i], dst[i], some) || a != a || b != b {
			continue
		}
		for _, p := range [][2]float64{{a, b}, {b, a}} {
			n, x, y, xx, yy, xy = n+1, x+p[0], y+p[1], xx+p[0]*p[0], yy+p[1]*p[1], xy+p[0]*p[1]
		}
	}
	return (n*xy - x*y) / math.Sqrt((n*xx-x*x)*(n*yy-y*y))
}
