package train

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// number is a float64 in JSON, which has no NaN and no infinities: those are
// strings. It comes back to the bit.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if finite(v) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return fmt.Appendf(nil, `"%v"`, v), nil
}

func (n *number) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		switch text {
		case "NaN":
			*n = number(math.NaN())
		case "+Inf":
			*n = number(math.Inf(1))
		case "-Inf":
			*n = number(math.Inf(-1))
		default:
			return fmt.Errorf("%q is not a number", text)
		}
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
