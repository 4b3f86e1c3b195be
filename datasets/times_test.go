package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// timed returns the dataset of a table of nodes whose column of that name has the given cells.
func timed(t *testing.T, column, chosen string, cells ...string) (*Dataset, error) {
	t.Helper()
	text := "id;" + column + "\n"
	for i, c := range cells {
		text += fmt.Sprintf("n%02d;%s\n", i, c)
	}
	return readWith(saved(t, t.TempDir(), "e_edges.csv", "source,target\nn00,n01\n", "e_nodes.csv", text) + "/e_edges.csv" + chosen)
}

// oneTime returns the column of times of a table with one cell.
func oneTime(t *testing.T, column, text string) (c Column, err error) {
	d, err := timed(t, column, "#-"+column, text, text)
	if err != nil {
		return c, err
	}
	return d.NodeColumns[0], nil
}

// Each form is read to its last digit, and neighbours by the least step of the form are told
// apart by a split, in any order of the rows. Ends of the parts may be written in the same form.
func TestTimesOfEachForm(t *testing.T) {
	at := func(text string) int64 {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when.UnixMicro()
	}
	may := at("2024-05-19T00:00:00Z")
	for name, c := range map[string]struct {
		column string
		cells  []string // the latest first
		u      Until
		want   []int64
	}{
		"dates":               {"date", []string{"2024-05-21", "2024-05-20", "2024-05-19"}, Until{"2024-05-19", "2024-05-20"}, []int64{may + 2*day, may + day, may}},
		"digits":              {"date", []string{"20240521", "20240520", "20240519"}, Until{"20240519", "2024-05-20"}, []int64{may + 2*day, may + day, may}},
		"digits as floats":    {"date", []string{"20240521.0", "2.024052e7", "20240519.0"}, Until{"20240519", "20240520"}, []int64{may + 2*day, may + day, may}},
		"digits to minutes":   {"ts", []string{"202405190002", "202405190001", "202405190000"}, Until{"202405190000", "202405190001"}, []int64{may + 120*second, may + 60*second, may}},
		"digits to seconds":   {"ts", []string{"20240519000002", "20240519000001", "20240519000000"}, Until{"20240519000000", "20240519000001"}, []int64{may + 2*second, may + second, may}},
		"minutes":             {"time", []string{"2024-05-19 00:02", "2024-05-19T00:01", "2024-05-19T02:00+02:00"}, Until{"2024-05-19 00:00", "2024-05-19T00:01:00Z"}, []int64{may + 120*second, may + 60*second, may}},
		"RFC 3339":            {"seen_at", []string{"2024-05-19T00:00:02Z", "2024-05-19T02:00:01+02:00", "2024-05-18T22:00:00-02:00"}, Until{"2024-05-19T00:00:00Z", "2024-05-19T00:00:01Z"}, []int64{may + 2*second, may + second, may}},
		"of pandas":           {"seen_at", []string{"2024-05-19 00:00:00.000002+00:00", "2024-05-19 02:00:00.000001+02", "2024-05-19 00:00:00"}, Until{"2024-05-19T00:00:00Z", "2024-05-19T00:00:00.000001Z"}, []int64{may + 2, may + 1, may}},
		"seconds":             {"timestamp", []string{"1716076802", "1716076801", "1716076800"}, Until{"1716076800", "1716076801"}, []int64{may + 2*second, may + second, may}},
		"seconds as floats":   {"timestamp", []string{"1716076802.0", "1.716076801e9", "1716076800.0"}, Until{"1716076800", "1716076801"}, []int64{may + 2*second, may + second, may}},
		"parts of seconds":    {"timestamp", []string{"1716076800.000002", "1716076800.000001", "1716076800"}, Until{"1716076800", "1716076800.000001"}, []int64{may + 2, may + 1, may}},
		"seconds before 1970": {"born_ts", []string{"-1716076798", "-1716076799.5", "-1716076800"}, Until{"-1716076800", "-1716076799"}, []int64{-1716076798 * second, -1716076799500000, -1716076800 * second}},
		"seconds about 1970":  {"ts", []string{"100000000", "5", "-3"}, Until{"1969", "1970-01-01T00:00:05Z"}, []int64{100000000 * second, 5 * second, -3 * second}},
		"milliseconds":        {"ts", []string{"1716076800002", "1716076800001", "1716076800000"}, Until{"1716076800000", "1716076800001"}, []int64{may + 2000, may + 1000, may}},
		"their parts":         {"ts", []string{"1716076800000.5", "1716076800000.25", "1716076800000"}, Until{"1716076800", "1716076800000.25"}, []int64{may + 500, may + 250, may}},
		"microseconds":        {"ts", []string{"1716076800000002", "1716076800000001", "1716076800000000"}, Until{"1716076800000000", "1716076800000001"}, []int64{may + 2, may + 1, may}},
		"nanoseconds":         {"ts", []string{"1716076800000002999", "1716076800000001001", "1716076800000000000"}, Until{"1716076800000000000", "1716076800000001000"}, []int64{may + 2, may + 1, may}},
		"before 1970":         {"ts", []string{"-1716076800000000001", "-1716076800000001001", "-1716076800000002001"}, Until{"-1716076800000002001", "-1716076800000001001"}, []int64{-may - 1, -may - 2, -may - 3}},
		"years":               {"year", []string{"2019", "2018", "2017.0"}, Until{"2017", "2018.5"}, []int64{2019, 2018, 2017}},
		"years before Christ": {"birth_year", []string{"12", "-43", "-44"}, Until{"-43.5", "-43"}, []int64{12, -43, -44}},
		"steps":               {"time", []string{"3", "2", "1"}, Until{"1", "2"}, []int64{3, 2, 1}},
		"large steps":         {"year", []string{"9007199254740995", "9007199254740994", "9007199254740993"}, Until{"9007199254740993", "9007199254740994"}, []int64{9007199254740995, 9007199254740994, 9007199254740993}},
		"digits by chance":    {"time", []string{"20240519", "20240500", "20240400"}, Until{"20240400", "20240500"}, []int64{20240519, 20240500, 20240400}},
	} {
		for _, chosen := range []string{"", "#-" + c.column} {
			d, err := timed(t, c.column, chosen, c.cells...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := d.NodeColumns[0]
			if dated := c.column != "year" && c.column != "birth_year" && c.column != "time" || name == "minutes"; !slices.Equal(got.Times, c.want) || got.Dated != dated {
				t.Errorf("%s: times %v, dated %v; want %v, %v", name, got.Times, got.Dated, c.want, dated)
			}
			if s, err := d.NodesByTime("", c.u); err != nil || fmt.Sprint(s) != "{[2] [1] [0]}" {
				t.Errorf("%s: split %v, error %v", name, s, err)
			}
		}
	}
}

// A number is of the unit that its size says, on either side of each threshold and of 0.
func TestTimeThresholds(t *testing.T) {
	for _, c := range []struct {
		n      int64
		micros int64 // a second's, say
		over   int64
	}{
		{99_999_999, 0, 1}, {100_000_000, second, 1}, {99_999_999_999, second, 1}, {100_000_000_000, 1000, 1}, {99_999_999_999_999, 1000, 1},
		{100_000_000_000_000, 1, 1}, {99_999_999_999_999_999, 1, 1}, {100_000_000_000_000_000, 1, 1000}, {math.MaxInt64, 1, 1000},
	} {
		for _, n := range []int64{c.n, -c.n} {
			got, err := oneTime(t, "seen at", fmt.Sprint(n))
			want, dated := n*c.micros, c.micros > 0
			if c.over > 1 {
				if want = n / c.over; n < 0 && n%c.over != 0 {
					want--
				}
			}
			if !dated {
				want = n
			}
			if err != nil || got.Dated != dated || got.Times[0] != want {
				t.Errorf("%d is %v, dated %v, error %v; want %d, %v", n, got.Times, got.Dated, err, want, dated)
			}
		}
	}
	for _, text := range []string{"10000101", "29991231", "20240229"} { // dates of digits
		if c, err := oneTime(t, "date", text); err != nil || !c.Dated || time.UnixMicro(c.Times[0]).UTC().Format("20060102") != text {
			t.Errorf("%s: %v, error %v", text, c, err)
		}
	}
	for _, text := range []string{"09991231", "30000101", "20230229", "20241301", "20240100", "-20240519", "20240519.5"} {
		if c, err := oneTime(t, "date", text); err != nil || c.Dated {
			t.Errorf("%s: %v, error %v", text, c, err)
		}
	}
}

// Forms do not mix: the error names both lines. A column that is left out of the features says so
// where a split asks for it, and nothing else minds.
func TestMixedTimes(t *testing.T) {
	for _, c := range []struct {
		cells []string
		want  string
	}{
		{[]string{"1716076800", "1716076800000"}, `line 3, column "seen_at": "1716076800000" is a number of milliseconds since 1970, and line 2 has "1716076800", a number of seconds since 1970: write all times of a column in one form, such as 2024-03-01T12:30:00Z`},
		{[]string{"1716076800000", "1716076800000000", "1716076800000"}, `line 3, column "seen_at": "1716076800000000" is a number of microseconds since 1970, and line 2 has`},
		{[]string{"2024-05-19", "", "20240519"}, `line 4, column "seen_at": "20240519" is a date, and line 2 has "2024-05-19", a time that is written out`},
		{[]string{"2024-05-19", "1716076800"}, `line 3, column "seen_at": "1716076800" is a number of seconds since 1970, and line 2 has`},
		{[]string{"1716076800", "20240519", "1716076801"}, `line 3, column "seen_at": "20240519" is a date, and line 2 has "1716076800", a number of seconds`},
		{[]string{"20240519", "0", "20240520"}, `line 3, column "seen_at": "0" is a number, and line 2 has "20240519", a date`},
		{[]string{"20240519", "5"}, `line 3, column "seen_at": "5" is a number, and line 2 has "20240519", a date`},
		{[]string{"20240519", "20240230", "20240520"}, `line 3, column "seen_at": "20240230" is a number, and line 2 has "20240519", a date`},
		{[]string{"20240519", "202405190000", "20240520"}, `line 3, column "seen_at": "202405190000" is a date with a time, and line 2 has`},
		{[]string{"2024-05-19", "2024", "2024-05-20"}, `line 3, column "seen_at": "2024" is a number, and line 2 has`},
		{[]string{"2024-05-19", "soon", "2024-05-20"}, `line 3, column "seen_at": "soon" is no time, and line 2 has "2024-05-19", a time that is written out`},
		{[]string{"2024-05-19", "2024-02-30", "2024-05-20"}, `line 3, column "seen_at": "2024-02-30" is no time, and line 2 has`},
		{[]string{"19.05.2024", "20.05.2024"}, `line 2, column "seen_at": "19.05.2024" is a date written for people: write it as 2024-05-19, or leave the column out (--column seen_at=none)`},
	} {
		d, err := timed(t, "seen_at", "#-seen_at", c.cells...)
		if err != nil {
			t.Errorf("%v: %v", c.cells, err)
			continue
		}
		for _, name := range []string{"", "seen at"} {
			if s, err := d.NodesByTime(name, Until{}); err == nil || !strings.Contains(err.Error(), "e_nodes.csv: "+c.want) {
				t.Errorf("%v: split %v, error %v, want %s", c.cells, s, err, c.want)
			}
		}
		if err := d.Check(); err != nil {
			t.Errorf("%v: %v", c.cells, err)
		}
		var b strings.Builder
		if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "seen_at: no times: ") {
			t.Errorf("%v: described as %s, error %v", c.cells, b.String(), err)
		}
		path := t.TempDir() + "/e.npz"
		if err := d.SaveNPZ(path); err != nil {
			t.Errorf("%v: %v", c.cells, err)
		}
		if e, err := readWith(path); err != nil || e.NodeColumns != nil {
			t.Errorf("%v: %v, error %v", c.cells, e, err)
		}
		if slices.Contains(c.cells, "") || strings.Contains(c.want, "no time") || strings.Contains(c.want, "for people") {
			continue // a feature is refused for that, or of words
		}
		if _, err := timed(t, "seen_at", "", c.cells...); err == nil || !strings.Contains(err.Error(), "e_nodes.csv: "+c.want) {
			t.Errorf("%v as a feature: error %v, want %s", c.cells, err, c.want)
		}
	}
}

// What is not known is in no part, and what has the same time is in one.
func TestTimesMissingAndEqual(t *testing.T) {
	d, err := timed(t, "ts", "#-ts", "1716076801", "", "1716076800", "nan", "1716076801", "NA", "1716076802", "NaT", "1716076801", "1716076800")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := d.NodesByTime("", Until{"1716076800", "1716076801"}); err != nil || fmt.Sprint(s) != "{[2 9] [0 4 8] [6]}" {
		t.Errorf("%v, error %v", s, err)
	}
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "ts: one a node to split by, 2024-05-19 to 2024-05-19T00:00:02Z, 4 not known") {
		t.Errorf("described as %s, error %v", b.String(), err)
	}
	if d, err = timed(t, "year", "#-year", "", "9", "", "1", "", "2", "", "3", "4", "", "5", "", "6", "", "7", "", "8", "", "10", ""); err != nil {
		t.Fatal(err)
	}
	if s, err := d.NodesByTime("", Until{}); err != nil || fmt.Sprint(s) != "{[3 5 7 8 10 12 14 16] [1] [18]}" { // tenths of what is known
		t.Errorf("%v, error %v", s, err)
	}
	cells := slices.Repeat([]string{"2018"}, 10)
	if d, err = timed(t, "year", "", append(cells, "2019", "2020")...); err != nil {
		t.Fatal(err)
	}
	// Eight tenths of twelve are nine, of which the last is of 2018, as the tenth is.
	if s, err := d.NodesByTime("", Until{}); err == nil || !strings.Contains(err.Error(), "none is left to validate: choose where training and validation end") {
		t.Errorf("%v, error %v", s, err)
	}
}

// Numbers that are not whole keep all of their digits and their order.
func TestNumbersThatSayWhen(t *testing.T) {
	d, err := timed(t, "time", "", "16777217.5", "16777217.25", "-1e-9", "0", "-0", "0.1")
	if err != nil {
		t.Fatal(err)
	}
	if c := d.NodeColumns[0]; c.Dated || c.Times != nil || !slices.Equal(c.Numbers, []float64{16777217.5, 16777217.25, -1e-9, 0, 0, 0.1}) {
		t.Errorf("%v", c)
	}
	if s, err := d.NodesByTime("", Until{"0", "16777217.25"}); err != nil || fmt.Sprint(s) != "{[2 3 4] [1 5] [0]}" {
		t.Errorf("%v, error %v", s, err)
	}
	last := int64(NoTime)
	for _, v := range []float64{math.Inf(-1), -math.MaxFloat64, -2, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, 2, math.MaxFloat64} {
		if k := placeOf(v); k <= last || numberAt(k) != v {
			t.Errorf("%v has the place %d after %d, of %v", v, k, last, numberAt(k))
		}
		last = placeOf(v)
	}
	if placeOf(math.Copysign(0, -1)) != placeOf(0) || placeOf(math.NaN()) != NoTime {
		t.Error("−0 is not 0, or NaN is known")
	}
}

// A time that is a feature counts from the earliest, and numbers that float32 does not hold from
// their least: neighbours stay apart. Others are as they stand.
func TestTimesAsFeatures(t *testing.T) {
	for _, c := range []struct {
		column string
		cells  []string
		want   []tensor.Float
	}{
		{"date", []string{"20240521", "20240519", "20240520"}, []tensor.Float{2, 0, 1}},
		{"joined", []string{"2024-05-19T12:00:00Z", "2024-05-19", "2024-05-18"}, []tensor.Float{1.5, 1, 0}},
		{"at", []string{"2024-05-19T12:00:00Z", "2024-05-19", "2024-05-18"}, []tensor.Float{1.5, 1, 0}},
		{"ts", []string{"1716076800", "1716098400", "1716120000"}, []tensor.Float{0, 0.25, 0.5}},
		{"ts", []string{"1716076800000", "1716098400000", "1716120000000"}, []tensor.Float{0, 0.25, 0.5}},
		{"ts", []string{"-43200", "0", "1716120000"}, []tensor.Float{0, 0.5, 19863}},
		{"year", []string{"2019", "2017", "2018"}, []tensor.Float{2019, 2017, 2018}},
		{"time", []string{"16777216", "-16777216", "0"}, []tensor.Float{16777216, -16777216, 0}},
		{"time", []string{"-16777219.5", "-16777217.5", "0"}, []tensor.Float{0, 2, 16777219.5}},
		{"time", []string{"20241400", "20241401", "20241402"}, []tensor.Float{0, 1, 2}},
		{"time", []string{"20241400.5", "20241401", "20241402"}, []tensor.Float{0, 0.5, 1.5}},
		{"up_to_date", []string{"true", "false", "true"}, []tensor.Float{1, 0, 1}},
		{"time", []string{"0", "0.5", "0"}, []tensor.Float{0, 0.5, 0}},
	} {
		d, err := timed(t, c.column, "", c.cells...)
		if err != nil {
			t.Errorf("%s %v: %v", c.column, c.cells, err)
			continue
		}
		what, most := fmt.Sprintf("%s %v", c.column, c.cells), float64(slices.Max(c.want))
		compare.Near(t, what, d.Features.(*tensor.Dense).Data, c.want, compare.Off(1e-6*most, 0))
	}
	dir := saved(t, t.TempDir(), "e_edges.csv", "source,target,at\na,b,1716076800\nb,c,1716076802\nc,a,1716076801\n")
	d, err := readWith(dir + "/e_edges.csv")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.EdgesByTime("at", Until{"1716076800", "1716076801"})
	if loops := d.WithSelfLoops().EdgeColumns[0]; !slices.Equal(loops.Times, []int64{1716076801000000, NoTime, 1716076800000000, NoTime, 1716076802000000, NoTime}) {
		t.Errorf("with loops %v", loops.Times)
	}
	if got := d.EdgeFeatures.Data; err != nil || fmt.Sprint(d.EdgeColumns[0].Times, s) != "[1716076801000000 1716076800000000 1716076802000000] {[1] [0] [2]}" {
		t.Errorf("edges %v, %v, %v, error %v", d.EdgeColumns, s, got, err)
	}
	compare.Near(t, "times of edges", d.EdgeFeatures.Data, []tensor.Float{1.0 / 86400, 0, 2.0 / 86400}, compare.Off(1e-6*2/86400, 0))
}

// Times in JSON and GraphML are kept as those of tables.
func TestTimesInOtherForms(t *testing.T) {
	for name, text := range map[string]string{
		"g.json":    `{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [{"source": "a", "target": "b", "ts": 1716076800000}, {"source": "b", "target": "c", "ts": 1716076800002}, {"source": "c", "target": "a", "ts": 1716076800001}]}`,
		"g.graphml": `<graphml><key id="k" for="edge" attr.name="ts" attr.type="long"/><graph edgedefault="directed"><node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"><data key="k">1716076800000</data></edge><edge source="b" target="c"><data key="k">1716076800002</data></edge><edge source="c" target="a"><data key="k">1716076800001</data></edge></graph></graphml>`,
		"g.dot":     `digraph { a -> b [ts=1716076800000]; b -> c [ts=1716076800002]; c -> a [ts=1716076800001] }`,
	} {
		d, err := readWith(saved(t, t.TempDir(), name, text) + "/" + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s, err := d.EdgesByTime("", Until{"1716076800000", "1716076800001"}); err != nil || fmt.Sprint(d.EdgeColumns[0].Times, s) != "[1716076800001000 1716076800000000 1716076800002000] {[1] [0] [2]}" {
			t.Errorf("%s: %v, %v, error %v", name, d.EdgeColumns, s, err)
		}
	}
	_, err := readWith(saved(t, t.TempDir(), "g.json", `{"links": [{"source": "a", "target": "b", "ts": 1716076800}, {"source": "b", "target": "c", "ts": 1716076800002}]}`) + "/g.json")
	if err == nil || !strings.Contains(err.Error(), `g.json: link 2, column "ts": "1716076800002" is a number of milliseconds`) {
		t.Errorf("error %v", err)
	}
}
