package cells

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// randomCell returns a text that looks like a number or a time.
func randomCell(rng *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
		}
		return string(b)
	}
	switch rng.IntN(8) {
	case 0:
		return strconv.FormatFloat(math.Float64frombits(rng.Uint64()), "feg"[rng.IntN(3)], -1, 64)
	case 1:
		return strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10)
	case 2:
		return strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(20), 64)
	case 3:
		return fmt.Sprintf("%04d-%02d-%02d", rng.IntN(10000), rng.IntN(14), rng.IntN(33))
	case 4:
		return fmt.Sprintf("%04d-%02d-%02d%c%02d:%02d%s%s", rng.IntN(10000), 1+rng.IntN(12), 1+rng.IntN(28), "T t"[rng.IntN(3)], rng.IntN(25), rng.IntN(61),
			[]string{"", ":0" + digits(1), ":5" + digits(1), ":60", ":05." + digits(1+rng.IntN(8)), ":59," + digits(3), ":1", ".5", ":00."}[rng.IntN(9)],
			[]string{"", "Z", "+02", "-11:30", "+00:00", "-00:00", "z", "+2", "+0230", "+25:00", "-24"}[rng.IntN(11)])
	}
	return []string{"", "+", "-"}[rng.IntN(3)] + strings.Repeat("0", rng.IntN(4)*rng.IntN(12)) + digits(rng.IntN(18)) + []string{"", ".", "." + digits(1+rng.IntN(18)), "e5", "E-3", "x", "-"}[rng.IntN(7)]
}

// exactOracle returns the number that a text is, whole ones of 64 bits exactly.
func exactOracle(text string) (x instant, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return instant{n: n}, n != NoTime
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < 1<<63) {
		return x, false
	}
	return instantOf(v), true
}

// A number and a time are those of strconv and package time to the bit, and the texts come back from their notes.
func TestScalars(t *testing.T) {
	rng := rand.New(rand.NewPCG(46, 1))
	for range 60_000 {
		text := randomCell(rng)
		v, err := strconv.ParseFloat(text, 64)
		number := err == nil && v == v || math.IsInf(v, 0)
		at, isWritten := oracleTime(text)
		for _, w := range []when{never, counted, timed} {
			s := new(scalars)
			ok := s.cell(0, 1, []byte(text), w)
			if ok != (number || isWritten || IsEmpty([]byte(text))) {
				t.Fatalf("%q: read %v", text, ok)
			}
			if !ok {
				continue
			}
			if got := string(s.appendText(nil, 0)); got != text && !IsEmpty([]byte(text)) {
				t.Fatalf("%q came back as %q", text, got)
			}
			bits, n := s.at(0)
			if isWritten && (n&kindBits != isTime || bits != at) {
				t.Fatalf("%q is %d, want %d", text, bits, at)
			}
			if x, isExact := exactOracle(text); w != never && number && isExact {
				if got, _ := s.instant(0); got != x && !(got.n == x.n && got.rest == x.rest) {
					t.Fatalf("%q is %v, want %v", text, got, x)
				}
			} else if number && math.Float64bits(math.Float64frombits(uint64(bits))) != math.Float64bits(v) {
				t.Fatalf("%q is %v, want %v", text, math.Float64frombits(uint64(bits)), v)
			}
		}
	}
}

// A column of ten thousand words has each once, and one whose texts are mostly different has a text a row,
// wherever blocks end.
func TestManyWords(t *testing.T) {
	var b strings.Builder
	b.WriteString("word,text,id\n")
	const rows = 24_000
	for row := range rows {
		fmt.Fprintf(&b, "w%d,%d of %d,%d.0\n", row*7%10_000, row*row%13_001, row, row)
	}
	for _, size := range []int{0, 3000} {
		table, err := blocksOf(b.String(), size, func([]string) (Plan, error) { return Plan{As: []As{AsTyped, AsTyped, AsIDs}}, nil })
		if err != nil {
			t.Fatal(err)
		}
		words, texts, ids := table.Columns[0].Words, table.Columns[1].Words, table.Columns[2].Words
		if len(words.Texts) != 10_000 || len(words.Codes) != rows || words.At(rows-1) != fmt.Sprintf("w%d", (rows-1)*7%10_000) || words.Texts[1] != "w7" {
			t.Errorf("blocks of %d: %d words, the last row %q", size, len(words.Texts), words.At(rows-1))
		}
		if texts.Codes != nil || texts.At(5) != "25 of 5" || ids.Codes != nil || ids.At(rows-1) != strconv.Itoa(rows-1) {
			t.Errorf("blocks of %d: texts %v, row 5 %q, ids %q", size, texts.Codes != nil, texts.At(5), ids.At(rows-1))
		}
	}
}

func TestID(t *testing.T) {
	for id, want := range map[string]string{"7.0": "7", "-7.0": "-7", "007.0": "007", "7": "7", "7.5": "7.5", "-.0": "-.0", ".0": ".0", "--7.0": "--7.0", "7.00": "7.00", "v1.0": "v1.0", "1.2.0": "1.2.0", "": ""} {
		if got := ID(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
}
