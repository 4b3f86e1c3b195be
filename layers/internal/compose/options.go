package compose

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// WantOptions panics unless the fields of a layer, *l, lie in their ranges. A whole number is 0 or
// more, and those of some names are 1 or more; a fraction lies from 0 to 1, any other number is
// finite, an activation has a name that there is, and a Score is there. Init calls it.
func WantOptions(l any, positive ...string) {
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() {
			want := wanted(name, v.Field(i).Interface(), slices.Contains(positive, name))
			if name == "Score" && v.Field(i).IsNil() {
				want = "one, such as &attention.Additive{…}"
			}
			if want != "" {
				panic(&grad.TapeError{Op: v.Type().String(), Why: fmt.Sprintf("%s is %v; want %s", name, v.Field(i), want)})
			}
		}
	}
}

// wanted returns what the value of a field should be, empty if it is that.
func wanted(name string, value any, positive bool) string {
	switch x := value.(type) {
	case int:
		switch {
		case positive && x < 1:
			return "1 or more"
		case x < 0:
			return "0 or more"
		}
	case []int:
		if slices.ContainsFunc(x, func(n int) bool { return n < 0 }) {
			return "numbers of 0 or more"
		}
	case float64:
		switch {
		case isFraction(name) && !(x >= 0 && x <= 1):
			return "a fraction from 0 to 1"
		case math.IsNaN(x) || math.IsInf(x, 0):
			return "a finite number"
		}
	case grad.Activation:
		if tensor.Try(func() { grad.Const(tensor.New(1)).Activate(x) }) != nil {
			return "one of package grad's activations, such as grad.ReLU"
		}
	}
	return ""
}

// isFraction reports whether a field of this name is a fraction.
func isFraction(name string) bool {
	switch name {
	case "P", "Alpha", "Leak", "Momentum", "Ratio":
		return true
	}
	return strings.HasSuffix(name, "Drop") || strings.HasSuffix(name, "Dropout")
}
