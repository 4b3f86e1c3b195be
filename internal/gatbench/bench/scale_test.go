package bench

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// A benchmark is run on each number of threads, and then on as many as before.
func TestScale(t *testing.T) {
	defer par.SetThreads(5)()
	seen := map[int]bool{}
	b := &Benchmark{Name: "b", Params: map[string]any{"threads": 5}, Prepare: func() Work {
		return Work{Call: func() { seen[par.Threads()] = true; time.Sleep(time.Microsecond) }}
	}}
	lines, err := NewTimer("", Budget{AtLeast: 1, AtMost: 1, Limit: time.Second, Alone: true}).Scale(t.Context(), b, []int{1, 2, 3})
	if got := slices.Sorted(maps.Keys(seen)); err != nil || !slices.Equal(got, []int{1, 2, 3}) || len(lines) != 3 || par.Threads() != 5 {
		t.Errorf("%v, run on %v threads, %d lines, and then on %d", err, got, len(lines), par.Threads())
	}
	if lines[1].Params["threads"] != 2 || b.Params["threads"] != 5 {
		t.Errorf("the second line is of %v threads, and the benchmark of %v", lines[1].Params["threads"], b.Params["threads"])
	}
}

// A terminal that is too narrow for all numbers of threads shows those that it has room for.
func TestScaleTable(t *testing.T) {
	bs := []Benchmark{{Name: "a/name/of/24/characters."}}
	lines := []*Line{{MedianMS: 1234.5}, {MedianMS: 500}, {MedianMS: 40}, {MedianMS: 0.12345}}
	lines[2].Extra.EpochMS = 99.94 // of a training an epoch is shown, and not the step
	lines[3].Extra.Growth, lines[3].Extra.Busy = 9.97, 0.994
	for width, want := range map[int][2]string{
		0: {"name                           1       2       4       8  growth    busy",
			"a/name/of/24/characters.    1234     500    99.9   0.123    10.0    99 %"},
		71: {"name                           1       2       8  growth    busy",
			"a/name/of/24/characters.    1234     500   0.123    10.0    99 %"},
		20: {"name                           1       8  growth    busy",
			"a/name/of/24/characters.    1234   0.123    10.0    99 %"},
	} {
		table := NewScaleTable(bs, []int{1, 2, 4, 8}, width)
		if head, row := table.Head(), table.Row(&bs[0], lines); head != want[0] || row != want[1] {
			t.Errorf("%d columns:\n%s\n%s", width, head, row)
		}
	}
}
