package columns

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// feature returns the features of a column of the table of nodes, and their names.
func feature(t *testing.T, s *Schema, raw *form.Raw, name string) (rows [][]float64, names []string, a *Applied) {
	t.Helper()
	a, err := s.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	x, width := dense(a.Features), a.Features.Shape()[1]
	rows = make([][]float64, raw.Nodes[0].Rows)
	for j, n := range a.Names {
		if n != name && !strings.HasPrefix(n, name+"=") {
			continue
		}
		names = append(names, strings.TrimPrefix(n, name))
		for i := range rows {
			rows[i] = append(rows[i], float64(x[i*width+j]))
		}
	}
	return rows, names, a
}

// Numbers are standardised by the rows that train, as sums of exact numbers say.
func TestStandardised(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for _, c := range []struct {
		as          Encoding
		offset, dev float64
	}{{AsNumber, 0, 1}, {AsNumber, 40, 11}, {AsNumber, 1.7e9, 1e5}, {AsNumber, -3e-9, 1e-10}, {AsLog, 0, 1e6}, {AsLog, -20, 3}} {
		x, train := make([]float64, 300), []int32(nil)
		for i := range x {
			if x[i] = c.offset + c.dev*rng.NormFloat64(); rng.IntN(10) > 3 {
				train = append(train, int32(i))
			}
		}
		raw := shop(len(x), numbered("x", x...))
		s := fitted(t, raw, Roles{As: map[string]Encoding{"x": c.as}}, Rows{Nodes: train})
		got, _, _ := feature(t, s, raw, "x")
		mapped := func(i int32) float64 {
			if v := x[i]; c.as == AsLog {
				return math.Copysign(math.Log1p(math.Abs(v)), v)
			}
			return x[i]
		}
		exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
		n, mean, squares := exact(float64(len(train))), exact(0), exact(0)
		for _, i := range train {
			mean.Add(mean, exact(mapped(i)))
		}
		mean.Quo(mean, n)
		for _, i := range train {
			d := exact(0).Sub(exact(mapped(i)), mean)
			squares.Add(squares, d.Mul(d, d))
		}
		dev := exact(0).Sqrt(squares.Quo(squares, n))
		for i := range x {
			want, _ := exact(0).Quo(exact(0).Sub(exact(mapped(int32(i))), mean), dev).Float64()
			size, _ := exact(0).Quo(exact(math.Abs(c.offset)+1), dev).Float64() // numbers themselves are known so well, in deviations
			if c.as == AsLog {
				size = 30
			}
			if off := math.Abs(got[i][0] - want); off > 2*rounding.Unit*math.Abs(want)+1e-13*(size+float64(len(x))) {
				t.Fatalf("%s of %v: %v, want %v", c.as, x[i], got[i][0], want)
			}
		}
	}
	raw := shop(4, numbered("x", 7, 7, 7, 9))
	if got, _, _ := feature(t, fitted(t, raw, Roles{}, Rows{Nodes: []int32{0, 1, 2}}), raw, "x"); fmt.Sprint(got) != "[[0] [0] [0] [0]]" {
		t.Errorf("a column of one value: %v", got)
	}
	raw = shop(3, numbered("x", 7, -2.5, 9))
	if got, _, _ := feature(t, fitted(t, raw, Roles{As: map[string]Encoding{"x": AsPlain}}, Rows{}), raw, "x"); fmt.Sprint(got) != "[[7] [-2.5] [9]]" {
		t.Errorf("plain: %v", got)
	}
	// A model file of a time when numbers stayed as they are says no scale.
	s := fitted(t, raw, Roles{}, Rows{})
	if s.Nodes[0].Columns[0].Scale = nil; s.Check() != nil {
		t.Error(s.Check())
	}
	if got, _, _ := feature(t, s, raw, "x"); fmt.Sprint(got) != "[[7] [-2.5] [9]]" {
		t.Errorf("without a scale: %v", got)
	}
}

// Empty numbers and times are the median, and a feature says which they are if the rows that train have some. Warnings are of what those did not have.
func TestGaps(t *testing.T) {
	raw := shop(5, numbered("x", 1, nan, 4, 1, nan), dated("d", 3, 1, form.NoTime, 2, 9), numbered("full", 1, 2, 3, 4, 5), worded("w", "a", "", "b", "a", "b"))
	s := fitted(t, raw, Roles{}, Rows{Nodes: []int32{0, 1, 2, 3}})
	x, names, a := feature(t, s, raw, "x")
	r2 := math.Sqrt2
	if fmt.Sprint(names) != "[ =empty]" {
		t.Errorf("%v, %v", names, x)
	}
	compare.Slices(t, "x", x, [][]float64{{-1 / r2, 0}, {-1 / r2, 1}, {r2, 0}, {-1 / r2, 0}, {-1 / r2, 1}}, sine)
	d, names, _ := feature(t, s, raw, "d")
	if fmt.Sprint(names) != "[ =empty]" {
		t.Errorf("%v, %v", names, d)
	}
	r := math.Sqrt(1.5)
	compare.Slices(t, "d", d, [][]float64{{r, 0}, {-r, 0}, {0, 1}, {0, 0}, {7 * r, 0}}, sine)
	if len(a.Warnings) > 0 {
		t.Errorf("warnings %q", a.Warnings)
	}
	for want, other := range map[string]*form.Raw{
		`[2 cells of column "full" (shop_nodes.csv) are empty, the first in line 2: they count as 2.5, the median of the rows that train]`:                       shop(2, numbered("x", 1, nan), dated("d", 3, 2), form.Column{Name: "full", Type: form.Empty}, worded("w", "a", "")),
		`[nothing stands in column "w" (shop_nodes.csv), and in the rows that train something does: its 12 cells count as none of its 2 words]`:                  shop(12, numbered("x", make([]float64, 12)...), dated("d", make([]int64, 12)...), numbered("full", make([]float64, 12)...), form.Column{Name: "w", Type: form.Empty}),
		`[nothing stands in column "x" (shop_nodes.csv), and in the rows that train something does: its 12 cells count as 1, the median of the rows that train]`: shop(12, form.Column{Name: "x", Type: form.Empty}, dated("d", make([]int64, 12)...), numbered("full", make([]float64, 12)...), worded("w", strings.Split("abababababab", "")...)),
	} {
		if a, err := s.Apply(other); err != nil || fmt.Sprint(a.Warnings) != want {
			t.Errorf("%v, %q, want %s", err, a.Warnings, want)
		}
	}
	s = fitted(t, shop(2, worded("w", "a", "b")), Roles{}, Rows{}) // which had no gaps
	if a, err := s.Apply(shop(2, form.Column{Name: "w", Type: form.Empty})); err != nil || len(a.Warnings) != 1 {
		t.Errorf("%v, %v", err, a)
	}
}

// sine allows what a sine of an angle up to 2π is off by.
var sine = compare.Off(16*rounding.Unit, 16*rounding.Unit)

// A code is one feature that holds the number of a word that the rows that train have twice.
func TestCodes(t *testing.T) {
	raw := shop(7, numbered("x", 1, 2, 3, 4, 5, 6, 7), worded("zone", "b", "a", "b", "a", "once", "", "never"), numbered("atom", 8, 6, 8, 6, 6, nan, 7))
	raw.Edges[0].Columns = append(raw.Edges[0].Columns, worded("bond", "single"))
	r := Roles{As: map[string]Encoding{"zone": AsCode, "atom": AsCode, "bond": AsCode}}
	s := fitted(t, raw, r, Rows{Nodes: []int32{0, 1, 2, 3, 4, 5}})
	zone, _, a := feature(t, s, raw, "zone")
	if fmt.Sprint(zone) != "[[2] [1] [2] [1] [0] [0] [0]]" {
		t.Errorf("%v", zone)
	}
	if atom, _, _ := feature(t, s, raw, "atom"); fmt.Sprint(atom) != "[[2] [1] [2] [1] [1] [0] [0]]" {
		t.Errorf("%v", atom)
	}
	if fmt.Sprint(a.Names, a.Codes, a.EdgeNames, a.EdgeCodes) != "[x zone atom] [{1 2} {2 2}] [orders bond] [{1 0}]" {
		t.Error(a.Names, a.Codes, a.EdgeNames, a.EdgeCodes)
	}
	if len(a.Warnings) > 0 { // two of six cells are usual
		t.Errorf("warnings %q", a.Warnings)
	}
	_, err := s.Apply(shop(3, numbered("x", 1, 2, 3), worded("zone", "new", "newer", "a"), numbered("atom", 6, 6, 6)))
	if err == nil {
		t.Error("edges lack a column, and no error says so")
	}
	next := shop(3, numbered("x", 1, 2, 3), worded("zone", "new", "newer", "a"), numbered("atom", 6, 6, 6))
	next.Edges = nil
	if a, err = s.Apply(next); err != nil || fmt.Sprint(a.Warnings) != `[2 cells of column "zone" (shop_nodes.csv) have words that the rows that train do not have twice, such as "new" in line 2: they count as none of its 2 words]` {
		t.Errorf("%v, %v", a, err)
	}
	raw = shop(2, numbered("atom", 6.5, 8))
	if s, err = Choose(raw, Roles{As: map[string]Encoding{"atom": AsCode}}); err == nil {
		err = s.Fit(raw, Rows{})
	}
	if err == nil || !strings.Contains(err.Error(), `line 2, column "atom": 6.5 is neither a word nor a whole number`) {
		t.Error(err)
	}
}

// Times become days, and sines and cosines of the cycles that the rows that train go through.
func TestCycles(t *testing.T) {
	at := func(texts ...string) form.Column {
		c := form.Column{Name: "at", Type: form.Time, Dated: true}
		for _, s := range texts {
			v, ok := form.TimeOf(s)
			if !ok {
				t.Fatal(s)
			}
			c.Times = append(c.Times, v)
		}
		return c
	}
	for _, c := range []struct {
		name string
		col  form.Column
		want string
	}{
		{"two years of moments", at("2022-01-01T06:00:00Z", "2023-12-31T23:59:59Z", "1931-07-02T12:00:00Z"), "[ =day.sin =day.cos =week.sin =week.cos =year.sin =year.cos]"},
		{"two years of dates", at("2022-01-01", "2024-02-29", "2023-07-01"), "[ =week.sin =week.cos =year.sin =year.cos]"},
		{"a fortnight", at("2022-01-01T06:00:00Z", "2022-01-14T12:00:00Z", "2024-02-29T01:02:03Z"), "[ =day.sin =day.cos =week.sin =week.cos]"},
		{"an afternoon", at("2022-01-01T12:00:00Z", "2022-01-01T17:00:00Z", "2022-01-01T18:00:00Z"), "[]"},
		{"years", form.Column{Name: "at", Type: form.Time, Times: []int64{2017, 2019, 2040}}, "[]"},
	} {
		raw := shop(3, c.col)
		s := fitted(t, raw, Roles{}, Rows{Nodes: []int32{0, 1}})
		rows, names, _ := feature(t, s, raw, "at")
		if got := fmt.Sprint(names); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		for i, row := range rows {
			when := c.col.Times
			mean, dev := float64(when[0])/2+float64(when[1])/2, float64(when[1]-when[0])/2
			want := []float64{(float64(when[i]) - mean) / dev}
			m := time.UnixMicro(when[i]).UTC()
			clock := float64(m.Hour()*3600+m.Minute()*60+m.Second()) / 86400
			length := 365.0
			if y := m.Year(); y%4 == 0 && (y%100 != 0 || y%400 == 0) {
				length = 366
			}
			for _, name := range names {
				phase := map[string]float64{
					"=day.": clock, "=week.": (float64((int(m.Weekday())+6)%7) + clock) / 7, "=year.": (float64(m.YearDay()-1) + clock) / length,
				}[strings.TrimRight(name, "sinco")]
				switch {
				case strings.HasSuffix(name, ".sin"):
					want = append(want, math.Sin(2*math.Pi*phase))
				case strings.HasSuffix(name, ".cos"):
					want = append(want, math.Cos(2*math.Pi*phase))
				}
			}
			compare.Near(t, fmt.Sprintf("%s: row %d", c.name, i), row, want, sine)
		}
	}
}

// A text is the weights of its words by how few rows have them, of length 1.
func TestText(t *testing.T) {
	texts := []string{"The box was broken, the BOX!", "box late", "", "Größe falsch; box zurück", "never seen: zzz9"}
	raw := shop(5, worded("note", texts...))
	s := fitted(t, raw, Roles{As: map[string]Encoding{"note": AsText}}, Rows{Nodes: []int32{0, 1, 2, 3}})
	if s.Nodes[0].Columns[0].Width != hashesOfText {
		t.Fatal("another width")
	}
	rows, names, a := feature(t, s, raw, "note")
	if _, ok := a.Features.(*sparse.CSR); !ok && len(names) >= sparseLeast {
		t.Errorf("%d features of texts are dense", len(names))
	}
	fields := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) })
	}
	with := map[int32]int{} // of each hash how many rows have it
	for _, text := range texts[:4] {
		own := map[int32]bool{}
		for _, w := range fields(text) {
			own[hashOf(w, hashesOfText)] = true
		}
		for h := range own {
			with[h]++
		}
	}
	if len(names) != len(with) || !strings.Contains(strings.Join(names, ""), "=größe") {
		t.Errorf("%d features %q, want %d", len(names), names, len(with))
	}
	for i, text := range texts {
		weights, squares := map[int32]float64{}, 0.0
		for _, w := range fields(text) {
			if h := hashOf(w, hashesOfText); with[h] > 0 {
				weights[h] += math.Log(4/float64(1+with[h])) + 1
			}
		}
		for _, v := range weights {
			squares += v * v
		}
		var want []float64
		for h := range int32(hashesOfText) {
			if with[h] > 0 {
				want = append(want, weights[h]/math.Sqrt(max(squares, 1e-300)))
			}
		}
		compare.Near(t, fmt.Sprintf("%q", text), rows[i], want, sine)
	}
	if hashOf("box", 256) != 0xf2 { // of a model file nothing may move: FNV-1a of 64 bits
		t.Errorf("box has the hash %#x", hashOf("box", 256))
	}
}

// Dates in the future are named, and so are those long after the rows that train.
func TestLateTimes(t *testing.T) {
	defer func(f func() time.Time) { now = f }(now)
	now = func() time.Time { return time.UnixMicro(1000 * day) }
	raw := shop(4, dated("at", 700, 760, 800, form.NoTime))
	s := fitted(t, raw, Roles{}, Rows{})
	for want, days := range map[string][]int64{
		"": {700, 899, 900},
		`1 cell of column "at" (shop_nodes.csv) is much later than the rows that train, which end on 1972-03-11, such as 1972-06-20 in line 3: nothing was learnt of such times`: {700, 901, 900},
		`2 cells of column "at" (shop_nodes.csv) are in the future, such as 1973-01-01 in line 2: is that meant? --column at=none leaves the column out`:                         {1096, 1002, 800},
	} {
		if a, err := s.Apply(shop(3, dated("at", days...))); err != nil || strings.Join(a.Warnings, "\n") != want {
			t.Errorf("%v: %v, %q, want %q", days, err, a.Warnings, want)
		}
	}
}

// A row becomes the same bits in any company, whatever its columns become, and after JSON.
func TestAnyEncodingInAnyCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 120
	vocabulary := strings.Fields("the box came late broken back twice nobody wrote we asked why und dann nichts größer")
	var names, notes []string
	x, when := make([]float64, n), form.Column{Name: "when", Type: form.Time, Dated: true}
	for i := range n {
		x[i] = math.Exp(3 * rng.NormFloat64())
		if names = append(names, vocabulary[rng.IntN(len(vocabulary))]); i%9 == 0 {
			x[i], names[i] = nan, ""
		}
		when.Times = append(when.Times, rng.Int64N(900*day))
		var note []string
		for range 3 + rng.IntN(9) {
			note = append(note, vocabulary[rng.IntN(len(vocabulary))])
		}
		notes = append(notes, strings.Join(note, " "))
	}
	called := func(name string, c form.Column) form.Column { c.Name = name; return c }
	raw := shop(n, numbered("number", x...), numbered("plain", x...), numbered("log", x...), worded("category", names...), worded("code", names...), called("time", when), worded("text", notes...))
	as := map[string]Encoding{}
	for _, c := range raw.Nodes[0].Columns {
		as[c.Name] = Encoding(c.Name)
	}
	var train []int32
	for i := range int32(n) {
		if i%3 > 0 {
			train = append(train, i)
		}
	}
	s := fitted(t, raw, Roles{As: as}, Rows{Nodes: train})
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := new(Schema)
	if err := json.Unmarshal(text, again); err != nil || again.Check() != nil {
		t.Fatal(err, again.Check())
	}
	a, err := s.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	width, whole := a.Features.Shape()[1], dense(a.Features)
	for range 20 {
		rows := []int32{int32(rng.IntN(n))}
		for range rng.IntN(9) {
			rows = append(rows, int32(rng.IntN(n)))
		}
		b, err := again.Apply(&form.Raw{Nodes: []form.Nodes{{Table: raw.Nodes[0].Gather(rows), Listed: len(rows)}}})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(b.Codes) != fmt.Sprint(a.Codes) || !reflect.DeepEqual(a.Names, b.Names) {
			t.Fatalf("%v, %v", a.Codes, b.Codes)
		}
		for i, row := range rows {
			if got, want := dense(b.Features)[i*width:(i+1)*width], whole[int(row)*width:(int(row)+1)*width]; !reflect.DeepEqual(got, want) {
				t.Fatalf("row %d beside %d others is %v, want %v", row, len(rows)-1, got, want)
			}
		}
	}
}

// Each column of a matrix of whole numbers becomes a code of the numbers that the rows that train have twice. What is fitted is checked
// when it is read, and a sparse matrix or numbers that are not whole are none.
func TestCodesOfMatrix(t *testing.T) {
	raw := func(values ...tensor.Float) *form.Raw {
		n := len(values) / 2
		x := form.Column{Name: "x", Type: form.Many, Matrix: &form.Matrix{Rows: n, Cols: 2, Values: values}}
		return &form.Raw{Nodes: []form.Nodes{{Table: form.Table{Rows: n, Columns: []form.Column{x}, Origin: form.Origin{File: "x.csv", First: 2}}, Listed: n}}}
	}
	roles := Roles{As: map[string]Encoding{"x": AsCode}}
	fitted := raw(7, -1, 7, 0, 6, 0, 6, -1, 8, 5)
	s, err := Choose(fitted, roles)
	if err == nil {
		err = s.Fit(fitted, Rows{})
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Apply(raw(6, -1, 8, 0, 7, 2))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Code{{0, 2}, {1, 2}}; !slices.Equal(a.Codes, want) || a.Numeric[0] != 2 {
		t.Errorf("codes %v, want %v; %d numbers", a.Codes, want, a.Numeric[0])
	}
	if want := []tensor.Float{1, 1, 0, 2, 2, 0}; !slices.Equal(a.Features.(*tensor.Dense).Data, want) {
		t.Errorf("features %v, want %v", a.Features, want)
	}
	for want, values := range map[string][]tensor.Float{
		"6.5, number 0 of the row, is no whole number":      {6, 0, 6.5, 0},
		"1.6777218e+07, number 1 of the row, is no whole":   {6, 1<<24 + 2},
		"NaN, number 0 of the row, is no whole number, as ": {tensor.Float(math.NaN()), 0},
	} {
		s, err := Choose(raw(values...), roles)
		if err == nil {
			err = s.Fit(raw(values...), Rows{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
	sparse := raw()
	sparse.Nodes[0].Rows, sparse.Nodes[0].Columns[0].Matrix = 1, &form.Matrix{Rows: 1, Cols: 2, Offsets: []int64{0, 1}, Columns: []int32{1}}
	if _, err := Choose(sparse, roles); err == nil || !strings.Contains(err.Error(), "2 numbers a row, which are no code") {
		t.Errorf("a sparse matrix of codes: %v", err)
	}
	if _, err := s.Apply(raw(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)); err == nil || !strings.Contains(err.Error(), "all other 9 numbers of the column are new") {
		t.Errorf("numbers that are all new: %v", err)
	}
	for _, spoil := range []func(c *Column){
		func(c *Column) { c.Values = c.Values[:1] }, func(c *Column) { c.Values = [][]int32{{2, 2}, {0, 1}} }, func(c *Column) { c.As = AsNumber },
		func(c *Column) { c.As, c.Values, c.Codes = AsMatrix, nil, []Code{{2, 1}} }, func(c *Column) { c.Codes = []Code{{0, 1}} },
	} {
		bad := s.Clone()
		if bad.Check() != nil {
			t.Fatal("the Schema cannot be")
		}
		spoil(&bad.Nodes[0].Columns[0])
		if bad.Check() == nil {
			t.Errorf("%+v can have been fitted", bad.Nodes[0].Columns[0])
		}
	}
}
