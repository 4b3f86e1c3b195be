package text

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/tensor"
)

// tasks are all of them, by name.
var tasks = map[string]func(Task) any{
	"Copy":        func(t Task) any { return t.Copy() },
	"Reverse":     func(t Task) any { return t.Reverse() },
	"Stretch":     func(t Task) any { return t.Stretch() },
	"Parity":      func(t Task) any { a, b := t.Parity(); return []Ragged{a, b} },
	"Dyck":        func(t Task) any { a, b := t.Dyck(); return []Ragged{a, b} },
	"Adding":      func(t Task) any { a, b := t.Adding(); return []any{a, b} },
	"Recall":      func(t Task) any { a, b := t.Recall(); return []any{a, b} },
	"Sort":        func(t Task) any { a, b := t.Sort(); return []any{a, b} },
	"Retrieve":    func(t Task) any { a, b := t.Retrieve(); return []any{a, b} },
	"Sine":        func(t Task) any { a, b := t.Sine(); return []any{a, b} },
	"Logistic":    func(t Task) any { a, b := t.Logistic(); return []any{a, b} },
	"MackeyGlass": func(t Task) any { a, b := t.MackeyGlass(); return []any{a, b} },
	"Dates":       func(t Task) any { return t.Dates() },
}

func TestTasksFollowTheSeed(t *testing.T) {
	for name, f := range tasks {
		a := Task{Count: 5, Min: 2, Max: 9, Seed: 3}
		b := a
		b.Seed = 4
		if !reflect.DeepEqual(f(a), f(a)) {
			t.Errorf("%s: the same seed gives others", name)
		}
		if reflect.DeepEqual(f(a), f(b)) {
			t.Errorf("%s: another seed gives the same", name)
		}
		if why := shapeError(t, func() { f(Task{Count: -1, Min: 2}) }); !strings.Contains(why, "Task."+name) {
			t.Errorf("%s: %s", name, why)
		}
		if name != "Dates" {
			shapeError(t, func() { f(Task{Count: 1, Min: 0}) })
			shapeError(t, func() { f(Task{Count: 1, Min: 5, Max: 4}) })
			shapeError(t, func() { f(Task{Count: 1, Min: 2, Symbols: -1}) })
		}
		f(Task{Min: 2}) // none is no error
	}
}

func TestLengthsAreAsLikely(t *testing.T) {
	counts := map[int]int{}
	for _, n := range (Task{Count: 6000, Min: 3, Max: 5, Symbols: 2}).Copy().Source.Lengths() {
		counts[n]++
	}
	for n := 3; n <= 5; n++ {
		if c := counts[n]; c < 1870 || c > 2130 { // 2000 ± 3.5 deviations of 37
			t.Errorf("%d of 6,000 have length %d", c, n)
		}
	}
	if len(counts) != 3 {
		t.Errorf("lengths %v", counts)
	}
}

func TestCopyAndReverse(t *testing.T) {
	task := Task{Count: 200, Min: 1, Max: 6, Symbols: 3}
	c := task.Copy()
	if !slices.Equal(c.Source.Tokens, c.Target.Tokens) || slices.Min(c.Source.Tokens) != First || slices.Max(c.Source.Tokens) != First+2 {
		t.Errorf("symbols %d to %d", slices.Min(c.Source.Tokens), slices.Max(c.Source.Tokens))
	}
	r := task.Reverse()
	for i := range r.Len() {
		back := slices.Clone(r.Target.Sequence(i))
		slices.Reverse(back)
		if !slices.Equal(back, r.Source.Sequence(i)) {
			t.Fatalf("%v reversed is %v", r.Source.Sequence(i), r.Target.Sequence(i))
		}
	}
}

// Every symbol stands twice, and the sequences end where their sources do.
func TestStretch(t *testing.T) {
	p := Task{Count: 20, Min: 1, Max: 6, Symbols: 3, Seed: 2}.Stretch()
	for i := range p.Len() {
		var twice []int32
		for _, w := range p.Source.Sequence(i) {
			twice = append(twice, w, w)
		}
		if !slices.Equal(p.Target.Sequence(i), twice) {
			t.Errorf("%v becomes %v", p.Source.Sequence(i), p.Target.Sequence(i))
		}
	}
}

func TestParity(t *testing.T) {
	bits, odd := Task{Count: 500, Min: 1, Max: 20}.Parity()
	ones := 0
	for i := range bits.Len() {
		n := int32(0)
		for k, b := range bits.Sequence(i) {
			n += b
			if odd.Sequence(i)[k] != n%2 {
				t.Fatalf("beneath %v stands %v", bits.Sequence(i), odd.Sequence(i))
			}
		}
		ones += int(n)
	}
	if share := float64(ones) / float64(len(bits.Tokens)); share < 0.47 || share > 0.53 || slices.Max(bits.Tokens) != 1 {
		t.Errorf("%.3f of the bits are ones", share)
	}
}

// Words are balanced, and each of the 5 words of 6 brackets as likely.
func TestDyck(t *testing.T) {
	words, depth := Task{Count: 5000, Min: 5, Max: 7}.Dyck()
	counts := map[string]int{}
	for i := range words.Len() {
		d := int32(0)
		for k, c := range words.Sequence(i) {
			d += 1 - 2*c
			if d < 0 || depth.Sequence(i)[k] != d {
				t.Fatalf("beneath %v stands %v", words.Sequence(i), depth.Sequence(i))
			}
		}
		if d != 0 {
			t.Fatalf("%v is not balanced", words.Sequence(i))
		}
		counts[fmt.Sprint(words.Sequence(i))]++
	}
	if len(counts) != 5 {
		t.Errorf("words %v", counts)
	}
	for w, n := range counts {
		if n < 900 || n > 1100 { // 1000 ± 3.5 deviations of 28
			t.Errorf("%s is there %d times of 5,000", w, n)
		}
	}
	long, _ := Task{Count: 50, Min: 2, Max: 60}.Dyck()
	if n := slices.Max(long.Lengths()); n > 60 || n < 40 || slices.ContainsFunc(long.Lengths(), func(n int) bool { return n%2 == 1 }) {
		t.Errorf("lengths %v", long.Lengths())
	}
	shapeError(t, func() { Task{Count: 1, Min: 5}.Dyck() })
}

// moments returns mean and variance.
func moments(values []tensor.Float) (mean, variance float64) {
	for _, v := range values {
		mean += float64(v) / float64(len(values))
	}
	for _, v := range values {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(values))
	}
	return mean, variance
}

func TestAdding(t *testing.T) {
	x, sum := Task{Count: 20000, Min: 2, Max: 9}.Adding()
	for i := range x.Len() {
		lo, hi := x.Offsets[i], x.Offsets[i+1]
		want, marks := tensor.Float(0), [2]int{}
		for k := lo; k < hi; k++ {
			if x.X.Data[2*k+1] == 1 {
				want += x.X.Data[2*k]
				marks[min(1, (k-lo)/((hi-lo)/2))]++
			} else if x.X.Data[2*k+1] != 0 {
				t.Fatalf("mark %v", x.X.Data[2*k+1])
			}
		}
		if sum.Data[i] != want || marks != [2]int{1, 1} {
			t.Fatalf("sequence %d: sum %v of marked %v, marks in the halves %v", i, sum.Data[i], want, marks)
		}
	}
	mean, variance := moments(sum.Data) // deviations: 0.0029, and 0.0014
	if math.Abs(mean-1) > 0.012 || math.Abs(variance-1.0/6) > 0.006 {
		t.Errorf("sums have mean %.4f and variance %.4f, want 1 and 1/6", mean, variance)
	}
	marks := [5]int{}
	x, _ = Task{Count: 3000, Min: 5}.Adding()
	for i := range 15000 {
		marks[i%5] += int(x.X.Data[2*i+1])
	}
	for k, n := range marks { // of the first half two, of the second three: 1500 and 1000, deviations 27 and 26
		if want := []int{1500, 1500, 1000, 1000, 1000}[k]; n < want-100 || n > want+100 {
			t.Errorf("place %d is marked %d times, want about %d", k, n, want)
		}
	}
	shapeError(t, func() { Task{Count: 1, Min: 1}.Adding() })
}

func TestRecall(t *testing.T) {
	x, symbol := Task{Count: 4000, Min: 3}.Recall()
	if x.X.Shape()[1] != 5 {
		t.Fatalf("%d columns", x.X.Shape()[1])
	}
	counts, noise := [4]int{}, []tensor.Float{}
	for i := range x.Len() {
		want := make([]tensor.Float, 5)
		want[symbol[i]], want[4] = 1, 1
		if got := x.X.Data[15*i : 15*i+5]; !slices.Equal(got, want) {
			t.Fatalf("symbol %d begins with %v", symbol[i], got)
		}
		counts[symbol[i]]++
		for k := 1; k < 3; k++ {
			row := x.X.Data[15*i+5*k:][:5]
			if row[4] != 0 {
				t.Fatalf("step %d is flagged", k)
			}
			noise = append(noise, row[:4]...)
		}
	}
	if mean, variance := moments(noise); math.Abs(mean) > 0.01 || math.Abs(variance-0.09) > 0.003 {
		t.Errorf("noise has mean %.4f and variance %.4f", mean, variance)
	}
	if slices.Min(counts[:]) < 900 {
		t.Errorf("symbols %v times", counts)
	}
	if wide, _ := (Task{Count: 1, Min: 1, Symbols: 7}).Recall(); wide.X.Shape()[1] != 8 {
		t.Errorf("7 symbols in %d columns", wide.X.Shape()[1])
	}
}

func TestRetrieve(t *testing.T) {
	pairs, digit := Task{Count: 2000, Min: 1, Max: 5, Symbols: 6}.Retrieve()
	asked := map[int]int{} // how often which pair of five
	for i := range pairs.Len() {
		s := pairs.Sequence(i)
		n := (len(s) - 3) / 2
		if n < 1 || n > 5 || len(s) != 2*n+3 || s[2*n] != First+16 || s[2*n+1] != First+16 {
			t.Fatalf("sequence %d is %v", i, s)
		}
		found := 0
		for k := range n {
			letter, d := s[2*k], s[2*k+1]
			if letter < First || letter >= First+6 || d < First+6 || d >= First+16 || slices.Contains(s[:2*k], letter) {
				t.Fatalf("pair %d of sequence %d is %d, %d of %v", k, i, letter, d, s)
			}
			if letter == s[2*n+2] {
				found++
				if d != First+6+digit[i] {
					t.Fatalf("sequence %d, %v, is said to ask for %d", i, s, digit[i])
				}
				if n == 5 {
					asked[k]++
				}
			}
		}
		if found != 1 {
			t.Fatalf("sequence %d asks for no pair: %v", i, s)
		}
	}
	for k := range 5 {
		if asked[k] < 40 {
			t.Errorf("of five pairs number %d is asked for %d times", k, asked[k])
		}
	}
	shapeError(t, func() { Task{Count: 1, Min: 7, Symbols: 6}.Retrieve() })
}

func TestSort(t *testing.T) {
	x, order := Task{Count: 100, Min: 1, Max: 12}.Sort()
	for i := range x.Len() {
		row, places := x.X.Data[x.Offsets[i]:x.Offsets[i+1]], order.Sequence(i)
		if len(places) != len(row) || !slices.IsSortedFunc(places, func(a, b int32) int { return int(math.Copysign(1, float64(row[a]-row[b]))) }) {
			t.Fatalf("%v in the order %v", row, places)
		}
	}
}

// What is to be said is the next value: of each step but the last, the next row.
func TestForecasts(t *testing.T) {
	for name, f := range map[string]func(Task) (Series, *tensor.Dense){"Sine": Task.Sine, "Logistic": Task.Logistic, "MackeyGlass": Task.MackeyGlass} {
		x, next := f(Task{Count: 20, Min: 5, Max: 90})
		for i := range x.Len() {
			lo, hi := x.Offsets[i], x.Offsets[i+1]
			if !slices.Equal(x.X.Data[lo+1:hi], next.Data[lo:hi-1]) {
				t.Errorf("%s: sequence %d is not followed by itself", name, i)
			}
		}
	}
}

func TestSine(t *testing.T) {
	x, _ := Task{Count: 400, Min: 100}.Sine()
	mean, variance := moments(x.X.Data)
	if math.Abs(mean) > 0.02 || math.Abs(variance-0.5) > 0.02 {
		t.Errorf("mean %.3f, variance %.3f, want 0 and 1/2", mean, variance)
	}
	for i := range x.Len() { // v(t+1) + v(t−1) = 2·cos(ω)·v(t), at all t for one ω
		v := x.X.Data[100*i : 100*i+100]
		var top, bottom float64
		for k := 1; k < 99; k++ {
			top, bottom = top+float64((v[k-1]+v[k+1])*v[k]), bottom+float64(v[k]*v[k])
		}
		c := top / bottom
		if period := 2 * math.Pi / math.Acos(c/2); period < 9.9 || period > 50.5 {
			t.Errorf("sequence %d has a period of %.1f", i, period)
		}
		for k := 1; k < 99; k++ {
			if e := math.Abs(float64(v[k-1]+v[k+1]) - c*float64(v[k])); e > 1e-5 {
				t.Fatalf("sequence %d, step %d: off by %g", i, k, e)
			}
		}
	}
}

func TestLogistic(t *testing.T) {
	x, next := Task{Count: 2000, Min: 40}.Logistic()
	for k, v := range x.X.Data {
		if e := math.Abs(float64(next.Data[k]) - 4*float64(v)*(1-float64(v))); e > 1e-6 {
			t.Fatalf("after %v comes %v", v, next.Data[k])
		}
	}
	var first []tensor.Float
	for _, k := range x.Offsets[:x.Len()] {
		first = append(first, x.X.Data[k])
	}
	for what, values := range map[string][]tensor.Float{"all": x.X.Data, "the first": first} { // deviations of the first: 0.008, 0.003
		if mean, variance := moments(values); math.Abs(mean-0.5) > 0.03 || math.Abs(variance-0.125) > 0.01 {
			t.Errorf("%s: mean %.4f, variance %.4f, want 1/2 and 1/8", what, mean, variance)
		}
	}
}

// A constant past of 1 stays: 0.2·1/2 = 0.1·1. Any other sequence obeys the equation,
// whose integral over a unit is taken by Simpson's rule from units before and after.
func TestMackeyGlass(t *testing.T) {
	still := glass(1)
	for range 50 {
		if v := still(); math.Abs(v-1) > 1e-12 {
			t.Fatalf("the fixed point 1 becomes %v", v)
		}
	}
	x, _ := Task{Count: 3, Min: 400}.MackeyGlass()
	for i := range x.Len() {
		v := x.X.Data[400*i : 400*i+400]
		slope := func(k int) float64 {
			old := float64(v[k-glassDelay])
			return 0.2*old/(1+math.Pow(old, 10)) - 0.1*float64(v[k])
		}
		for k := glassDelay; k+2 < len(v); k++ {
			integral := (slope(k) + 4*slope(k+1) + slope(k+2)) / 3
			if e := math.Abs(float64(v[k+2]-v[k]) - integral); e > 0.01 {
				t.Fatalf("sequence %d, step %d: off by %g", i, k, e)
			}
		}
		if lo, hi := slices.Min(v), slices.Max(v); lo < 0.2 || hi > 1.5 || hi-lo < 0.5 {
			t.Errorf("sequence %d lies between %v and %v", i, lo, hi)
		}
	}
	if reflect.DeepEqual(x.X.Data[:400], x.X.Data[400:800]) {
		t.Error("two sequences are the same")
	}
}

func TestAntonyms(t *testing.T) {
	p := Antonyms()
	got := []string{}
	for i := range p.Source {
		got = append(got, p.Source[i]+" "+p.Target[i])
	}
	want := "manPP women,black white,kingP queen,girlP boyPP,upPPP downP,highP lowPP"
	if strings.Join(got, ",") != want {
		t.Errorf("%q", got)
	}
}

func TestDates(t *testing.T) {
	p := Task{Count: 2000}.Dates()
	years := map[string]bool{}
	for i, s := range p.Source {
		d, err := time.Parse("2 January 2006", s)
		if err != nil || d.Format(time.DateOnly) != p.Target[i] || s != strings.ToLower(s) {
			t.Fatalf("%q is %q, error %v", s, p.Target[i], err)
		}
		years[p.Target[i][:4]] = true
	}
	if len(years) != 100 || years["1949"] || years["2050"] {
		t.Errorf("%d years", len(years))
	}
}
