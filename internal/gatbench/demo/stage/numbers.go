package stage

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// Sense says which of two numbers is the better one.
type Sense string

// Neither is said of what is not an achievement: of networks that are there to fail, and of the data.
const (
	Higher  Sense = "higher"
	Lower   Sense = "lower"
	Neither Sense = "neither"
)

// Numbers are what came of a demo, by name: those of its result that are numbers, of nested ones
// the names with points between them. NaN stands for one that is none.
type Numbers map[string]report.Number

// Numbers returns what came of the demo that was shown.
func (s *Stage) Numbers() Numbers { return s.numbers }

// add takes the numbers of a value with a name.
func (n Numbers) add(name string, value any) {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		n[name] = report.Number(math.NaN())
	case v.CanFloat():
		n[name] = report.Number(v.Float())
	case v.CanInt():
		n[name] = report.Number(v.Int())
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			n.add(name+"."+key.String(), v.MapIndex(key).Interface())
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			n.add(name+"."+strconv.Itoa(i+1), v.Index(i).Interface())
		}
	}
}

// Spread is what several seeds have of a number.
type Spread struct {
	Median, Worst, Lowest, Highest report.Number
	Of                             uint64 // the seed of Worst
}

// NewSpread returns that of the numbers of seeds. One that is no number is worse than any; of
// numbers of no sense the worst is none.
func NewSpread(sense Sense, seeds []uint64, of []float64) Spread {
	type one struct {
		seed uint64
		x    float64
	}
	all := make([]one, len(of))
	for i, x := range of {
		all[i] = one{seeds[i], x}
	}
	slices.SortStableFunc(all, func(a, b one) int { // from the worst on
		switch an, bn := math.IsNaN(a.x), math.IsNaN(b.x); {
		case an || bn:
			return cmp.Compare(b2i(bn), b2i(an))
		case sense == Lower:
			return cmp.Compare(b.x, a.x)
		}
		return cmp.Compare(a.x, b.x)
	})
	n := len(all)
	s := Spread{
		Median: report.Number((all[(n-1)/2].x + all[n/2].x) / 2),
		Worst:  report.Number(all[0].x), Of: all[0].seed,
		Lowest: report.Number(slices.Min(of)), Highest: report.Number(slices.Max(of)), // NaN where there is one
	}
	if sense == Neither {
		s.Worst = report.Number(math.NaN())
	}
	return s
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Names returns the names of numbers as one counts: x.8 before x.16.
func (n Numbers) Names() []string {
	var out []string
	for name := range n {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
			x, errX := strconv.Atoi(a)
			y, errY := strconv.Atoi(b)
			if errX == nil && errY == nil {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(a, b)
		})
	})
	return out
}
