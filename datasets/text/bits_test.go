package text_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/tensor"
)

// shown is a sequence a step a word: bits, flags, and = with the answer that is due.
func shown(b text.Bits, i int) []string {
	var out []string
	lo, hi := b.Sequence(i)
	for r := b.Offsets[i]; r < b.Offsets[i+1]; r++ {
		row := b.X.Row(r)
		word := digits(row[:len(row)-2]) + "|" + digits(row[len(row)-2:])
		if k := slices.Index(b.At[lo:hi], int32(r)); k >= 0 {
			word += "=" + digits(b.Answer.Row(lo+k))
		}
		out = append(out, word)
	}
	return out
}

func digits(x []tensor.Float) string {
	var s strings.Builder
	for _, v := range x {
		fmt.Fprintf(&s, "%.2g", v)
	}
	return s.String()
}

// Each task beside a plain reading of what it promises.
func TestBits(t *testing.T) {
	task := text.Task{Count: 40, Min: 2, Max: 4, Symbols: 3, Seed: 1}
	lengths := map[int]bool{}
	check := func(name string, b text.Bits, want func(words, rows []string) []string) {
		t.Helper()
		if b.Len() != 40 || b.X.RowLen() != 5 || b.Answer.Rows() != len(b.At) {
			t.Fatalf("%s: %d sequences of %d columns", name, b.Len(), b.X.RowLen())
		}
		for i := range 40 {
			words := shown(b, i)
			var rows []string
			for _, w := range words {
				if bits, ok := strings.CutSuffix(w, "|00"); ok {
					rows = append(rows, bits)
				}
			}
			lengths[len(rows)] = true
			if got := want(words, rows); !slices.Equal(got, words) {
				t.Fatalf("%s: sequence %d is\n%v, want\n%v", name, i, words, got)
			}
		}
	}
	heard := func(rows []string, second string) []string {
		out := []string{"000|10"}
		for _, r := range rows {
			out = append(out, r+"|00")
		}
		return append(out, "000|0"+second)
	}
	check("CopyBits", task.CopyBits(), func(_, rows []string) []string {
		out := heard(rows, "1")
		for _, r := range rows {
			out = append(out, "000|00="+r)
		}
		return out
	})
	check("ReverseBits", task.ReverseBits(), func(_, rows []string) []string {
		out := heard(rows, "1")
		for _, r := range slices.Backward(rows) {
			out = append(out, "000|00="+r)
		}
		return out
	})
	times := map[string]bool{}
	check("RepeatBits", task.RepeatBits(1, 3), func(words, rows []string) []string {
		n := (len(words) - len(rows) - 3) / len(rows)
		out := heard(rows, fmt.Sprintf("0.%d", n))
		times[out[len(out)-1]] = true
		for range n {
			for _, r := range rows {
				out = append(out, "000|00="+r+"0")
			}
		}
		return append(out, "000|00=0001")
	})
	if len(lengths) != 3 || len(times) != 3 {
		t.Errorf("lengths %v, times %v", lengths, times)
	}
	check("AssociateBits", task.AssociateBits(), func(words, rows []string) []string {
		var out []string
		items := rows[:len(rows)-3]
		for i, r := range items {
			if i%3 == 0 {
				out = append(out, "000|10")
			}
			out = append(out, r+"|00")
		}
		out = append(out, "000|01")
		for _, r := range rows[len(rows)-3:] {
			out = append(out, r+"|00")
		}
		out = append(out, "000|01")
		for i := 0; i+3 < len(items); i += 3 { // an item may stand twice
			next := []string{"000|00=" + items[i+3], "000|00=" + items[i+4], "000|00=" + items[i+5]}
			if slices.Equal(items[i:i+3], rows[len(rows)-3:]) && slices.Equal(next, words[len(words)-3:]) {
				return append(out, next...)
			}
		}
		return out
	})
	if a, b := task.CopyBits(), task.CopyBits(); !slices.Equal(a.X.Data, b.X.Data) {
		t.Error("the same seed draws other bits")
	}
}

func TestBitsRefuse(t *testing.T) {
	for name, f := range map[string]func(){
		"CopyBits":      func() { text.Task{Count: 1}.CopyBits() },
		"RepeatBits":    func() { text.Task{Count: 1, Min: 1}.RepeatBits(2, 1) },
		"AssociateBits": func() { text.Task{Count: 1, Min: 1}.AssociateBits() },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
