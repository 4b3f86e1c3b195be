package cells

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// anyCells reads all columns by their cells.
func anyCells(names []string) (Plan, error) { return Plan{As: make([]As, len(names))}, nil }

// blocksOf reads a text in blocks of a size.
func blocksOf(text string, size int, choose func([]string) (Plan, error)) (*Table, error) {
	if choose == nil {
		choose = anyCells
	}
	return readBlocks(strings.NewReader(text), nil, "t.csv", choose, size)
}

// writings are cells of columns, by what they look like.
var writings = map[string][]string{
	"whole":     {"0", "7", "-12", "123456", "9007199254740991", "-0"},
	"decimals":  {"0.5", "-1.25", "3.10", "12345.678", "0.001", "-0.0", "100.00"},
	"odd":       {"007", "+5", ".5", "-.25", "1e5", "1E-7", "00.10", "0.1234567890123456", "1e-05", "123456789012345678", "0x1p-2", "1e400", "-inf", "5e-324", "0.30000000000000004", "1.7976931348623157e+308", "0000000000000000000000000000000000000000001", "12345678901234567890123"},
	"truth":     {"true", "false"},
	"truths":    {"True", "TRUE", "fALSE", "false", "1"},
	"gaps":      {"", "nan", "NaN", "2.5", "3"},
	"dates":     {"2024-05-19", "1969-12-31", "0001-01-01", "2024-02-29", ""},
	"times":     {"2024-05-19T12:30:00Z", "2024-05-19 12:30", "2024-05-19T12:30:00.25+02:00", "2024-05-19 12:30:00-03", "2024-05-19 1:02", "1969-12-31T23:59:59.999999Z", "2024-05-19T12:30:00.1234567Z", "2024-05-19 12:30:05,5", "2024-05-19T12:30-11:30", "NaT"},
	"words":     {"red", "green", "a \"b\"", "x,y", "two\nlines", "Tromsø", " 5 km", "2024-13-01", "1_000", "--1", "1.2.3", "5.", "+", "."},
	"late":      {"1", "2.50", "007", "x", "1e5", "0.1234567890123456", "2024-05-19T12:30:00.25+02:00", "TRUE", "nan", "-0", "12345678901234567890"},
	"missing":   {"1", "2", "NA"},
	"dressed":   {"50%", "3,5", "$20"},
	"empty":     {"", "nan"},
	"nat":       {"NaT", ""},
	"timely_at": {"1716076800", "1716076800.25", "0", "-5", "NA", "NaT", "9223372036854775807"},
	"date":      {"20240519", "20240520", "", "null"},
	"ts":        {"1716076800", "1716076800000", "2024-05-19", "soon", "20240519"},
	"year":      {"2017", "2018", "", "007"},
	"a_year":    {"2017.5", "+2018", "-0", "00.25"},
}

// randomTable returns a table as text, and its cells as they were meant.
func randomTable(rng *rand.Rand, rows int) (text string, names []string, cells [][]string) {
	for name := range writings {
		names = append(names, name)
	}
	slices.Sort(names)
	names = append(names, "distinct", "most")
	var b strings.Builder
	split := []string{",", "\t", ";"}[rng.IntN(3)]
	b.WriteString([]string{"", "\ufeff", "# comment\n\n"}[rng.IntN(3)] + strings.Join(names, split) + "\n")
	for row := range rows {
		var of []string
		for i, name := range names {
			cell := ""
			if list := writings[name]; name == "distinct" {
				cell = fmt.Sprintf("text %d of %d", row, rng.IntN(9))
			} else if name == "most" {
				cell = strconv.Itoa(rng.IntN(1 + rows/2))
			} else if cell = list[rng.IntN(len(list))]; name == "late" && row < rows/2 && cell == "x" {
				cell = "3"
			}
			of = append(of, cell)
			if i > 0 {
				b.WriteString(split)
			}
			if strings.ContainsAny(cell, "\n\"\t,;") || rng.IntN(8) == 0 {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		cells = append(cells, of)
		b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
		if rng.IntN(20) == 0 {
			b.WriteString("\n")
		}
	}
	return b.String(), names, cells
}

// checkColumn compares a column with what strconv and package time say of its cells.
func checkColumn(t *testing.T, c *Column, cells []string) {
	t.Helper()
	var numbers, times, words int
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		v, isNumber := math.NaN(), true
		switch {
		case cell == "" || strings.EqualFold(cell, "nan"):
		case strings.EqualFold(cell, "true"), strings.EqualFold(cell, "false"):
			v = map[bool]float64{true: 1}[strings.EqualFold(cell, "true")]
			numbers++
		default:
			var err error
			if v, err = strconv.ParseFloat(cell, 64); err == nil || math.IsInf(v, 0) {
				numbers++
				break
			}
			isNumber = false
			if _, ok := oracleTime(cell); ok || strings.EqualFold(cell, "nat") || whenOf(c.Name) != never && missingWord([]byte(cell)) {
				times++
			} else {
				words++
			}
		}
		switch c.Type {
		case Number:
			if same := math.Float64bits(c.Numbers[i]) == math.Float64bits(v) || whenOf(c.Name) != never && c.Numbers[i] == v; !isNumber || !same && !(v != v && c.Numbers[i] != c.Numbers[i]) {
				t.Fatalf("%s, row %d: %q is %v", c.Name, i, cell, c.Numbers[i])
			}
		case Time:
			if want, ok := oracleTime(cell); ok && c.Times[i] != want || strings.EqualFold(cell, "nat") && c.Times[i] != NoTime {
				t.Fatalf("%s, row %d: %q is %v", c.Name, i, cell, c.Times[i])
			}
		case Word:
			if got := c.Words.At(i); got != cell && !(got == "" && strings.EqualFold(cell, "nan")) {
				t.Fatalf("%s, row %d: %q is %q", c.Name, i, cell, got)
			}
		}
	}
	if want := map[string]Type{
		"dates": Time, "times": Time, "date": Time, "year": Time, "a_year": Number, "ts": Word, "late": Word, "missing": Word, "words": Word, "odd": Number,
		"truth": Number, "truths": Number, "whole": Number, "decimals": Number, "gaps": Number, "empty": Empty, "nat": Empty, "dressed": Word, "timely_at": Word, "most": Number, "distinct": Word,
	}[c.Name]; c.Type != want {
		t.Fatalf("%s is of type %s, of %d numbers, %d times and %d words", c.Name, c.Type, numbers, times, words)
	}
}

func oracleTime(cell string) (int64, bool) {
	if len(cell) < 10 || cell[4] != '-' {
		return 0, false
	}
	for _, form := range timeForms {
		if at, err := time.Parse(form, cell); err == nil {
			return at.UnixMicro(), true
		}
	}
	return 0, false
}

// Random tables are as encoding/csv, strconv and package time read them, whatever the blocks, and with any
// number of processors.
func TestRandomTables(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 46))
		text, names, cells := randomTable(rng, []int{40, 300, 9000}[seed%3])
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		r.Comment, r.Comma = '#', map[bool]rune{true: '\t', false: ','}[strings.Contains(text[:200], "\t")]
		if strings.Contains(text[:200], ";") {
			r.Comma = ';'
		}
		all, err := r.ReadAll()
		if err != nil || !reflect.DeepEqual(all[1:], cells) {
			t.Fatalf("the oracle: error %v", err)
		}
		var first *Table
		for k, size := range []int{0, 1, 700, 5000, 1 << 16} {
			runtime.GOMAXPROCS([]int{1, 4}[(k+int(seed))%2])
			got, err := blocksOf(text, size, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
				if got.Rows != len(cells) || len(got.Columns) != len(names) {
					t.Fatalf("%d rows of %d", got.Rows, len(cells))
				}
				for i := range got.Columns {
					column := make([]string, len(cells))
					for row := range cells {
						column[row] = cells[row][i]
					}
					checkColumn(t, &got.Columns[i], column)
				}
			} else if a, b := fmt.Sprintf("%+v", shownTable(got)), fmt.Sprintf("%+v", shownTable(first)); a != b {
				t.Fatalf("seed %d: blocks of %d are another table", seed, size)
			}
		}
	}
}

// shownTable returns all that a table holds.
func shownTable(t *Table) (out []string) {
	out = append(out, fmt.Sprint(t.Rows, t.Origin))
	for _, c := range t.Columns {
		if c.Words != nil {
			out = append(out, fmt.Sprintf("%q %v", c.Words.Texts, c.Words.Codes))
		}
		mixed := c.Mixed
		c.Words, c.Mixed = nil, nil
		out = append(out, fmt.Sprintf("%+v %v", c, mixed))
	}
	return out
}

// What is wrong with the cells of a column is said without refusing it.
func TestMixed(t *testing.T) {
	for cells, want := range map[string]string{
		"1|NA|2":                `line 3, column "c": "NA" stands among numbers: leave the cell empty, fill it, with 0 perhaps, or leave the column out (--column c=none)`,
		"1|NaT":                 `line 3, column "c": "NaT" stands among numbers`,
		"5|50%":                 `line 3, column "c": "50%" is a number written for people: write digits and a dot alone, as 1041.5, or leave`,
		"1,041":                 `line 2, column "c": "1,041" is a number written for people`,
		"3,5|1":                 `line 2, column "c": "3,5" is a number written for people`,
		"$20":                   `line 2, column "c": "$20" is a number written for people`,
		"05/19/2024|05/20/2024": `line 2, column "c": "05/19/2024" is a date written for people: write it as 2024-05-19, or leave`,
		"2024-05-19|7":          `line 3, column "c": "7" is no time, and line 2 has one: times are like 2024-03-01T12:30:00Z`,
		"soon|2024-05-19":       `line 2, column "c": "soon" is no time, and line 3 has one`,
		"red|50%":               "",
		"red|NA":                "",
		"NA|None":               "",
		"007|x|1.50":            "",
	} {
		table, err := blocksOf("c\n"+strings.ReplaceAll(cells, "|", "\n")+"\n", 0, nil)
		c := &Column{}
		if err == nil {
			c = &table.Columns[0]
		}
		if err != nil || c.Type != Word || fmt.Sprintf("%q", c.Words.Texts) != fmt.Sprintf("%q", strings.Split(cells, "|")) {
			t.Errorf("%s: %+v, error %v", cells, c, err)
		}
		if got := errorText(c.Mixed); want == "" && got != "" || !strings.HasPrefix(got, strings.TrimSuffix("t.csv: "+want, "t.csv: ")) && want != "" {
			t.Errorf("%s: %v, want %s", cells, c.Mixed, want)
		}
	}
	five := "at\n2024-05-19\n1716076800\n1716076800000\n20240519\n2024\n"
	table, err := blocksOf(five, 0, nil)
	if want := `t.csv: line 5, column "at": "20240519" is a date, and line 2 has "2024-05-19", a time that is written out: write all times of a column in one form, such as 2024-03-01T12:30:00Z, or leave the column out (--column at=none)`; err != nil || errorText(table.Columns[0].Mixed) != want {
		t.Errorf("%+v, error %v, want %s", table, err, want)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestBadText(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "t.csv: line 1: there is no line in it that names columns",
		"\n# a,b\n":                      "t.csv: line 2: there is no line in it that names columns",
		"a,b\n1,2\n3\n":                  "t.csv: line 3: 1 fields, want 2 as the first line names, with commas between them",
		"a,b\n1,\"2\n\"\n3,4,5\n":        "t.csv: line 4: 3 fields, want 2 as the first line names",
		"a,b\n1,\"2\n3":                  `t.csv: line 2: a quote is not closed: close it, or write one that is meant as "" in a field that stands in quotes`,
		"a,b\n\"1\"x,2\n":                `t.csv: line 2: "x,2" follows a field in quotes`,
		"\"a,b\n":                        "t.csv: line 1: a quote is not closed",
		"a,b\n1,Troms\xf8\n2\n":          `t.csv: line 2: byte 8, 0xf8 after "1,Troms", is not UTF-8 but Latin-1 or Windows-1252 perhaps: save it as UTF-8, or convert it, such as by iconv -f WINDOWS-1252`,
		"a,b\n1\n2,Troms\xf8\n":          `t.csv: line 2: 1 fields, want 2`,
		"a,b\n1,x\x00\n":                 `t.csv: line 2: byte 4 is 0, as in UTF-16`,
		"st\xe4dte,id\n1,2\n":            `t.csv: line 1: byte 3, 0xe4 after "st", is not UTF-8`,
		"\xff\xfea\x00,\x00b\x00\n\x001": "t.csv: line 2: its byte-order mark says that it is UTF-16, and half a character stands in it",
		"a\n" + strings.Repeat("x", rowLongest+1): "t.csv: line 2: the row is longer than 16777216 bytes",
	} {
		for _, size := range []int{0, 1, 7} {
			if size > 0 && len(text) > 1<<20 {
				continue
			}
			if _, err := blocksOf(text, size, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%.40q in blocks of %d: error %v, want %s", text, size, err, want)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := Read(&failing{text: "a,b\n1,2\n3", err: broken}, nil, "t.csv", anyCells); !errors.Is(err, broken) || err.Error() != "t.csv: line 3: broken" {
		t.Errorf("a broken reader: %v", err)
	}
	long := strings.Repeat("x", 1<<20)
	if table, err := blocksOf("a,b\n1,"+long+"\n2,\""+long+"\n\"\n", 0, nil); err != nil || table.Columns[1].Words.At(1) != long {
		t.Errorf("a cell of 1 MiB: error %v", err)
	}
}

// failing is a reader of a text and then an error.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, f.err
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// Whatever a text holds, reading it does not panic, and does not depend on where blocks end.
func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,\"x\ny\"\n2024-05-19,007\n", byte(3))
	f.Add("\ufeff# c\nat;b\n1716076800;\"1\"\"\"\n;nan\n", byte(0))
	f.Add("a b\n\"1\" 2\n\n+.50 1e5\n", byte(90))
	f.Fuzz(func(t *testing.T, text string, size byte) {
		whole, err := blocksOf(text, 0, nil)
		cut, other := blocksOf(text, int(size)+1, nil)
		if errorText(err) != errorText(other) {
			t.Fatalf("error %v, in blocks %v", err, other)
		}
		if err == nil && !slices.Equal(shownTable(whole), shownTable(cut)) {
			t.Fatalf("read as %q, in blocks as %q", shownTable(whole), shownTable(cut))
		}
	})
}
