package columns

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What becomes of a column follows from its cells, and one that is left out says why.
func TestUsual(t *testing.T) {
	words := func(n int, f func(i int) string) form.Column {
		var cells []string
		for i := range n {
			cells = append(cells, f(i))
		}
		return worded("c", cells...)
	}
	plain := func(c form.Column) form.Column { // a text a row
		for row := range c.Words.Codes {
			c.Words.Codes[row]++
		}
		own := make([]string, len(c.Words.Codes))
		for row, k := range c.Words.Codes {
			if k > 0 {
				own[row] = c.Words.Texts[k-1]
			}
		}
		return form.Column{Name: c.Name, Type: form.Word, Words: &form.Words{Texts: own}}
	}
	sentence := func(i int) string {
		return fmt.Sprintf("%s box %d came back on %s and was %s", []string{"the", "one"}[i%2], i, []string{"monday", "friday"}[i%2], []string{"broken", "late", "fine"}[i%3])
	}
	word := func(i int) string { return fmt.Sprintf("w%03d", i) }
	numbers := func(n int, odd ...string) form.Column {
		c := words(n, func(i int) string { return fmt.Sprint(3 * i) })
		for i, text := range odd {
			c.Words.Texts[2+7*i] = text
		}
		return c
	}
	for name, c := range map[string]struct {
		col  form.Column
		want string
	}{
		"few words":                  {words(200, func(i int) string { return word(i % 12) }), "category"},
		"few words that differ":      {words(12, word), "category"},
		"fifty":                      {words(200, func(i int) string { return word(i % 50) }), "category"},
		"many":                       {words(200, func(i int) string { return word(i % 51) }), "code"},
		"ids":                        {words(200, word), "an id, since its words mostly differ"},
		"ids, a text a row":          {plain(words(200, word)), "an id, since its words mostly differ"},
		"cabins":                     {words(300, func(i int) string { return []string{"", "", word(i % 200)}[i%3] }), "an id, since its words mostly differ"},
		"prose":                      {words(200, sentence), "text"},
		"prose, a text a row":        {plain(words(200, sentence)), "text"},
		"a few sentences":            {words(200, func(i int) string { return sentence(i % 9) }), "category"},
		"one word":                   {words(200, func(int) string { return "a" }), "the same in all rows"},
		"one word or none":           {words(200, func(i int) string { return []string{"a", ""}[i%2] }), "category"},
		"one number":                 {numbered("c", 4, 4, 4), "the same in all rows"},
		"one number or none":         {numbered("c", 4, nan, 4), "number"},
		"one time":                   {dated("c", 4, 4, 4), "the same in all rows"},
		"a heavy tail":               {numbered("c", 1, 2, 3, 4, 5, 6, 7, 8, 9, 200), "log"},
		"a heavy tail below":         {numbered("c", 1, 2, 3, 4, 5, 6, 7, 8, 9, -200), "log"},
		"a tail":                     {numbered("c", 1, 2, 3, 4, 5, 6, 7, 8, 9, 40), "number"},
		"mostly the same":            {numbered("c", 0, 0, 0, 0, 0, 0, 0, 0, 0, 200), "number"},
		"nothing":                    {form.Column{Name: "c", Type: form.Empty}, "nothing stands in it"},
		"a number with a word in it": {numbers(40, "many"), `error: shop/shop_nodes.csv: line 4, column "c": "many" stands among 39 numbers: write a number, leave the cell empty, or say what the column is: --column c=category, or --column c=none to leave it out`},
		"codes, most of them digits": {numbers(40, "A12", "B7", "C9", "D1", "E4"), "an id, since its words mostly differ"},
	} {
		raw := shop(rowsOf(c.col), c.col)
		raw.Nodes[0].Columns = append(raw.Nodes[0].Columns, numbered("other", make([]float64, raw.Nodes[0].Rows)...))
		raw.Nodes[0].Columns[1].Numbers[0] = 1
		s, err := Choose(raw, Roles{})
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case s.Nodes[0].Columns[0].Name == "c":
			got = string(s.Nodes[0].Columns[0].As)
		default:
			got = s.Nodes[0].seen["c"].why
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	// Whoever asks gets what they ask for.
	raw := shop(40, numbers(40, "many"))
	for as, want := range map[Encoding]string{AsCategory: "40 features, one a word", AsCode: "a learnt row for each of 0 words", AsText: "40 features, by its words"} {
		s := fitted(t, raw, Roles{As: map[string]Encoding{"c": as}}, Rows{})
		if got, _ := s.Nodes[0].Columns[0].becomes(); len(s.Nodes[0].Columns) != 1 || as != AsText && got != want {
			t.Errorf("%s: %s, want %s", as, got, want)
		}
	}
}

func rowsOf(c form.Column) int {
	switch c.Type {
	case form.Number:
		return len(c.Numbers)
	case form.Time:
		return len(c.Times)
	case form.Word:
		return c.Words.Len()
	}
	return 3
}

// A column that alone says the class of every row that trains is named, and one that does not is not.
func TestTelltales(t *testing.T) {
	const n = 60
	yes := func(i int) bool { return i%3 == 0 }
	labels, left := make([]string, n), make([]string, n)
	refund, nearly, filled, row, band := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		labels[i], left[i] = "no", []string{"-", "moved"}[i%2]
		if filled[i] = nan; yes(i) {
			labels[i], left[i] = "yes", []string{"complained", "silent"}[i%2]
			refund[i], filled[i] = 5+float64(i), float64(i%7)
		}
		nearly[i], row[i] = refund[i], float64(i)
		if band[i] = float64(200 * (i % 2)); yes(i) { // between those of the others
			band[i] = 100
		}
	}
	nearly[3] = 0
	few := worded("few", left...)
	raw := shop(n, worded("label", labels...), few, numbered("refund", refund...), numbered("nearly", nearly...), numbered("filled", filled...), numbered("row", row...), numbered("band", band...))
	told := func(rows []int32) string {
		s, err := Choose(raw, Roles{})
		if err == nil {
			err = s.Fit(raw, Rows{Nodes: rows})
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Doubts, "\n")
	}
	const says = `column %q (shop_nodes.csv) alone tells the classes apart in all %d rows looked at: if the column is known only after the answer, it gives the answer away: leave it out with --column %s=none`
	var want []string
	for _, name := range []string{"few", "refund", "filled"} {
		want = append(want, fmt.Sprintf(says, name, n, name))
	}
	if got := told(nil); got != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := told([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}); got != "" {
		t.Errorf("of 13 rows: %s", got)
	}
	few.Words.Codes[0] = few.Words.Codes[1] // one row that breaks it
	refund[3] = 0
	filled[3] = nan
	if got := told(nil); got != "" {
		t.Errorf("told apart by none: %s", got)
	}
	var rest []int32
	for i := range int32(n) {
		if i != 0 && i != 3 {
			rest = append(rest, i)
		}
	}
	if got := told(rest); strings.Count(got, "in all 58 rows") != 4 { // now nearly does, too
		t.Errorf("without the rows that break it: %s", got)
	}
	// Words that are as many as rows say nothing.
	raw = shop(n, worded("label", labels...), numbered("age", row...), func() form.Column {
		var cells []string
		for i := range n {
			cells = append(cells, fmt.Sprint("id", i))
		}
		return worded("key", cells...)
	}())
	s := fitted(t, raw, Roles{As: map[string]Encoding{"key": AsCategory}}, Rows{})
	if len(s.Doubts) > 0 {
		t.Errorf("ids: %q", s.Doubts)
	}
}

// What was seen and what becomes of it stands in lines, one under another, with the flag that changes it.
func TestSays(t *testing.T) {
	var class, town, email []string
	var zone []float64
	for i := range 30 {
		class, town, email, zone = append(class, []string{"yes", "no"}[i%2]), append(town, []string{"Oslo", "", "Lund"}[i%3]), append(email, fmt.Sprintf("somebody%02d@example.org", i)), append(zone, float64(i%4))
	}
	age := numbered("first age", make([]float64, 30)...)
	for i := range age.Numbers {
		age.Numbers[i] = float64(20+i) + 0.5
	}
	age.Numbers[3] = nan
	raw := shop(30, age, worded("town", town...), worded("email", email...), numbered("zone", zone...), numbered("same", make([]float64, 30)...), worded("label", class...), form.Column{Name: "\x1b[2J", Type: form.Empty})
	raw.Edges = nil
	s := fitted(t, raw, Roles{As: map[string]Encoding{"zone": AsCode}}, Rows{})
	const want = `first age    29 numbers, 20.5 to 49.5; 3.3 % empty     standardised, and whether it is empty        --column 'first age'=log|plain|none
town         2 words: Lund, Oslo; 33 % empty           2 features, one a word                       --column town=code|none
email        30 words: somebody00@exam…, …             left out: an id, since its words mostly differ  --column email=category|text
zone         4 numbers, 0 to 3                         a learnt row for each of 4 words             --column zone=category|none
same         1 number, 0 to 0                          left out: the same in all rows
label        2 words: no, yes                          what is learnt: 2 classes (words)
"\x1b[2J"    nothing                                   left out: nothing stands in it`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	got := strings.Join(s.Says(), "\n")
	if squeeze(got) != squeeze(want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	at := -1 // what was seen begins in one column of the terminal
	for _, line := range s.Says() {
		name := strings.SplitN(line, "  ", 2)[0]
		k := strings.Index(line, strings.TrimSpace(line[len(name):]))
		if at < 0 {
			at = k
		} else if k != at {
			t.Errorf("%q begins at %d, want %d", line, k, at)
		}
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "somebody00") {
		t.Errorf("a column that is left out is kept: %s", text)
	}
	if s = fitted(t, shop(2, form.Column{Name: "x", Type: form.Many, Matrix: &form.Matrix{Rows: 2, Cols: 1, Values: make([]tensor.Float, 2)}}), Roles{}, Rows{}); len(s.Edges[0].Columns) > 0 {
		s.Edges[0].Columns = nil
	}
	if got := s.Says(); got != nil {
		t.Errorf("of a matrix: %q", got)
	}
}

// Many columns of 0 and 1, most of them 0, are a bag of words, which stays as it is.
func TestBagInColumns(t *testing.T) {
	for _, n := range []int{bagLeast - 1, bagLeast} {
		var all []form.Column
		for j := range n {
			x := make([]float64, 40)
			x[j], x[39] = 1, 1
			all = append(all, numbered(fmt.Sprint("w", j), x...))
		}
		raw := shop(40, append(all, numbered("age", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))...)
		s := fitted(t, raw, Roles{}, Rows{})
		if as := s.Nodes[0].Columns[3].As; (as == AsPlain) != (n == bagLeast) || s.Nodes[0].Columns[n].As != AsNumber {
			t.Errorf("of %d columns one is read as %s, and age as %s", n, as, s.Nodes[0].Columns[n].As)
		}
	}
}
