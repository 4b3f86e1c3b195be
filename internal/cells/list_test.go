package cells

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// shownColumn shows a column.
func shownColumn(c *Column) string {
	text := fmt.Sprintf("%s %s", c.Name, c.Type)
	switch c.Type {
	case Number:
		text += fmt.Sprint(" ", c.Numbers)
		if c.Truth {
			text += " truths"
		}
	case Time:
		text += fmt.Sprint(" ", strings.ReplaceAll(fmt.Sprint(c.Times), fmt.Sprint(int64(math.MinInt64)), "NoTime"))
		if c.Dated {
			text += " dated"
		}
	case Word:
		text += fmt.Sprintf(" %q", c.Words.Texts)
		if c.Words.Codes != nil {
			text += fmt.Sprint(c.Words.Codes)
		}
	}
	if c.Mixed != nil {
		text += fmt.Sprint(" !", c.Mixed)
	}
	return text
}

// cellsOf are the cells that stand in a text, with bars between them.
func cellsOf(text string) *List {
	c := new(List)
	for _, cell := range strings.Split(text, "|") {
		c.Add([]byte(cell))
	}
	return c
}

func TestTyped(t *testing.T) {
	const day = 86400 * 1_000_000
	for _, c := range []struct{ name, cells, want string }{
		{"a", "1|-2.5| 3e2 |", "a number [1 -2.5 300 NaN]"},
		{"a", "true|FALSE|NaN", "a number [1 0 NaN] truths"},
		{"a", "true|0", "a number [1 0]"},
		{"a", "inf|-Inf", "a number [+Inf -Inf]"},
		{"a", "|nan| ", "a empty"},
		{"a", "x|y||x", `a word ["x" "y"][0 1 -1 0]`},
		{"a", "x|1|1.0", `a word ["x" "1" "1.0"][0 1 2]`},
		{"a", "1970-01-02||1970-01-01 00:00:00", fmt.Sprintf("a time [%d NoTime 0] dated", day)},
		{"seen_at", "19700102|19700103", fmt.Sprintf("seen_at time [%d %d] dated", day, 2*day)},
		{"seen_at", "1716076800|NA|1716076801.5", "seen_at time [1716076800000000 NoTime 1716076801500000] dated"},
		{"a", "19700102|19700103", "a number [1.9700102e+07 1.9700103e+07]"},
		{"year", "2017||2018", "year time [2017 NoTime 2018]"},
		{"birth_year", "2017.5|2018", "birth_year number [2017.5 2018]"},
		{"date", "old|new", `date word ["old" "new"][0 1]`},
		{"a", "1|NA|2", `a word ["1" "NA" "2"][0 1 2] !x.csv: line 3, column "a": "NA" stands among numbers: leave the cell empty, fill it, with 0 perhaps, or leave the column out (--column a=none)`},
		{"a", "1|x|NA", `a word ["1" "x" "NA"][0 1 2]`},
		{"a", "1|1,041", `a word ["1" "1,041"][0 1] !x.csv: line 3, column "a": "1,041" is a number written for people: write digits and a dot alone, as 1041.5, or leave the column out (--column a=none)`},
		{"a", "05/19/2024|NA", `a word ["05/19/2024" "NA"][0 1] !x.csv: line 2, column "a": "05/19/2024" is a date written for people: write it as 2024-05-19, or leave the column out (--column a=none)`},
		{"a", "50%|half", `a word ["50%" "half"][0 1]`},
		{"a", "1|2024-01-01", `a word ["1" "2024-01-01"][0 1] !x.csv: line 2, column "a": "1" is no time, and line 3 has one: times are like 2024-03-01T12:30:00Z: write them all so, or leave the column out (--column a=none)`},
		{"time", "2024-01-01|5|2024-01-02", `time word ["2024-01-01" "5" "2024-01-02"][0 1 2] !x.csv: line 3, column "time": "5" is a number, and line 2 has "2024-01-01", a time that is written out: write all times of a column in one form, such as 2024-03-01T12:30:00Z, or leave the column out (--column time=none)`},
	} {
		got := Typed(c.name, cellsOf(c.cells), false, &Origin{File: "x.csv", First: 2})
		if got := shownColumn(&got); got != c.want {
			t.Errorf("%s of %s:\n%s, want\n%s", c.name, c.cells, got, c.want)
		}
	}
	for name, want := range map[string]string{"a": `a word ["7" "8"][0 1]`, "date": `date word ["7" "8"][0 1]`} {
		got := Typed(name, cellsOf("7|8"), true, new(Origin))
		if got := shownColumn(&got); got != want {
			t.Errorf("as words: %s, want %s", got, want)
		}
	}
	long := new(List)
	for i := range 5000 {
		long.Add([]byte(strings.Repeat("x", i%300)))
	}
	long.Add(make([]byte, 1<<17))
	long.Pad(5003)
	for row, text := range long.all() {
		if want := row % 300; row < 5000 && len(text) != want {
			t.Fatalf("cell %d has %d bytes", row, len(text))
		}
	}
}
