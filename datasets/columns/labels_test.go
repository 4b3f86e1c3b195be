package columns

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// labelled fits what is learnt of a column of a table, which is a number or classes if somebody asks for it.
func labelled(t *testing.T, name string, as Encoding, cells ...string) (*Schema, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nodes.csv")
	text := "id," + name + "\n"
	for i, cell := range cells {
		text += fmt.Sprintf("n%d,%s\n", i, cell)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	raw, err := form.Load(path, form.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := Roles{Label: []string{name}}
	if as != "" {
		r.As = map[string]Encoding{name: as}
	}
	s, err := Choose(raw, r)
	if err == nil {
		err = s.Fit(raw, Rows{})
	}
	return s, err
}

// What people have in tables is learnt as what it is: few numbers and codes as classes, many numbers as such.
func TestClassesOrNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	draw := func(n int, of func() any) (cells []string) {
		for range n {
			cells = append(cells, fmt.Sprint(of()))
		}
		return cells
	}
	between := func(lo, hi int) func() any { return func() any { return lo + rng.IntN(hi-lo+1) } }
	zips := []int{10115, 20095, 80331, 50667, 60311, 70173, 40213, 44135, 45127, 28195, 1067, 4109}
	for _, tt := range []struct {
		name  string
		as    Encoding
		cells []string
		count int // classes; 0: a number
		names []string
	}{
		{"stars", "", draw(200, between(1, 5)), 5, []string{"1", "2", "3", "4", "5"}},
		{"stars", AsNumber, draw(200, between(1, 5)), 0, nil},
		{"grade", "", draw(50, func() any { return 1.0 + float64(rng.IntN(2)) }), 2, []string{"1", "2"}},
		{"floats", "", []string{"1.0", "2.0", "1.0", "0.0"}, 3, nil},
		{"age", "", draw(600, between(18, 90)), 0, nil},
		{"age", AsCategory, draw(600, between(18, 90)), 73, nil},
		{"price", "", draw(3000, func() any { return int(200 * rng.ExpFloat64()) }), 0, nil},
		{"year", "", draw(600, between(2000, 2021)), 0, nil},
		{"orders", "", draw(600, func() any { return int(4 * rng.ExpFloat64()) }), 0, nil},
		{"zip", "", draw(600, func() any { return zips[rng.IntN(len(zips))] }), len(zips), nil},
		{"zip_code", "", draw(600, func() any { return zips[rng.IntN(len(zips))] }), len(zips), nil},
		{"sign", "", draw(60, func() any { return 2*rng.IntN(2) - 1 }), 2, []string{"-1", "1"}},
		{"mood", "", draw(60, between(-1, 1)), 2, nil}, // -1: not known
		{"mood", AsCategory, draw(60, between(-1, 1)), 3, []string{"-1", "0", "1"}},
		{"mood", "", draw(60, between(-2, 2)), 5, nil},
		{"subject", "", draw(2000, between(0, 39)), 40, nil},
		{"label", "", append(draw(200, between(0, 38)), "40"), 40, nil}, // a class of one row, and one of none
		{"share", "", draw(60, func() any { return rng.Float64() }), 0, nil},
		{"share", AsCategory, []string{"0.5", "1.5", "0.5"}, 2, []string{"0.5", "1.5"}},
		{"churned", "", draw(60, func() any { return rng.IntN(2) == 0 }), 2, []string{"false", "true"}},
	} {
		s, err := labelled(t, tt.name, tt.as, tt.cells...)
		if err != nil {
			t.Errorf("%s as %q: %v", tt.name, tt.as, err)
			continue
		}
		l := s.Label
		kind, count := OneClass, tt.count
		if count == 0 {
			kind, count = Numbers, 1
		}
		if l.Kind != kind || l.Count != count || tt.names != nil && !slices.Equal(l.Classes, tt.names) {
			t.Errorf("%s as %q: %s %d %q, want %s %d %q", tt.name, tt.as, l.Kind, l.Count, l.Classes, kind, count, tt.names)
		}
		if _, others := l.because(); l.other && !strings.Contains(others, map[bool]string{true: "number", false: "category"}[kind == OneClass]) {
			t.Errorf("%s may also be %q", tt.name, others)
		}
	}
	for _, tt := range []struct {
		as    Encoding
		cells []string
		want  string
	}{
		{AsNumber, []string{"1", "two"}, `"two" is no number to be learnt: words are learnt as classes, so leave it=number out`},
		{AsNumber, []string{"true", "false"}, "is no number to be learnt"},
		{AsLog, []string{"1", "2"}, "want number, which learns its numbers, or category, which learns classes"},
	} {
		if _, err := labelled(t, "it", tt.as, tt.cells...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q as %s: error %v, want %q", tt.cells, tt.as, err, tt.want)
		}
	}
}
