package train

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// jsonFloat is a float64 in JSON, which has no NaN and no infinities: those are
// strings. It comes back to the bit.
type jsonFloat float64

func (n jsonFloat) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if finite(v) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return fmt.Appendf(nil, `"%v"`, v), nil
}

func (n *jsonFloat) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		text, err := jsonread.Text(b)
		if err != nil {
			return err
		}
		switch text {
		case "NaN":
			*n = jsonFloat(math.NaN())
		case "+Inf":
			*n = jsonFloat(math.Inf(1))
		case "-Inf":
			*n = jsonFloat(math.Inf(-1))
		default:
			return fmt.Errorf("%q is not a number", text)
		}
		return nil
	}
	if string(b) == "null" { // which by itself would leave 0
		return errors.New("null is not a number")
	}
	return jsonread.Unmarshal(b, (*float64)(n))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
