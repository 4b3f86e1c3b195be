package draw

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// evenness compares the attention of a node in a layer with that which is the same for
// all of its in-edges. Most of what GAT learns on citations is close to it.
type evenness struct {
	edges     int
	heads     int
	low, high float64 // the smallest and the largest weight of any head, uniform being 1
	entropy   float64 // the heads' mean, that of uniform being 1
}

// evenness returns how even a layer's attention is.
func (a Attended) evenness(layer int) evenness {
	e := evenness{edges: len(a.Edges), low: math.Inf(1)}
	sum := 0.0
	for _, edge := range a.Edges {
		e.heads = len(edge.Heads[layer])
		for _, v := range edge.Heads[layer] {
			p := float64(v)
			e.low, e.high = min(e.low, p*float64(e.edges)), max(e.high, p*float64(e.edges))
			if p > 0 {
				sum -= p * math.Log(p)
			}
		}
	}
	e.entropy = 1
	if e.edges > 1 {
		e.entropy = sum / float64(e.heads) / math.Log(float64(e.edges))
	}
	return e
}

// uniform is the weight of each edge if all were the same.
func (e evenness) uniform() float64 { return 1 / float64(max(1, e.edges)) }

// String says it with numbers.
func (e evenness) String() string {
	if e.edges < 2 {
		return "a single in-edge has all of it"
	}
	whose := "" // the numbers in a picture are means of the heads
	if e.heads > 1 {
		whose = "single heads "
	}
	return whose + fmt.Sprintf("%s to %s × uniform, entropy %s of uniform's", times(e.low), times(e.high), percent(e.entropy))
}

// times writes a factor with two decimals, or three digits where it is large.
func times(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percent writes a share with one decimal, or two where it is small, and 100.0 for nothing
// less.
func percent(v float64) string {
	if v < 0.01 {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	if v < 1 {
		v = min(v, 0.999)
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// Widths of edges, in points: one of uniform attention, and those of the most and the least.
const (
	uniformWidth = 1.6 // as the legend has it
	mostWidth    = 9
	leastWidth   = 0.12
)

// roomy is how many edges of uniform width a panel holds apart. More are thinner.
const roomy = 48

// width returns that of an edge's line: its weight beside the uniform one, on the same
// scale in every panel, so that even attention looks even.
func (e evenness) width(weight float64) float64 {
	thin := min(1, roomy/float64(max(1, e.edges)))
	return thin * min(max(uniformWidth*weight/e.uniform(), leastWidth), mostWidth)
}

// key is the entry of the legend that shows the scale: a line as wide as that of an edge
// of uniform attention.
func (e evenness) key() picture.Key {
	k := picture.Key{Name: "uniform: " + percent(e.uniform()), Mark: picture.Curve, Colour: edgeColour}
	if e.edges > roomy {
		k.Mark = picture.Words
	}
	return k
}
