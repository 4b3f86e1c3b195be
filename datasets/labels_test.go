package datasets

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
