package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NoTime stands among a column's times where none is known. It is NumPy's NaT.
const NoTime = form.NoTime

// Until says where the parts of a split by time end: what is not later than Train trains, what
// is later and not later than Val validates, and what is later still tests. So what has the same
// time is in the same part. Each is a number, or of a column of times a date such as 2017, 2017-06
// or 2017-06-30, of which all is meant, or a time, which is that moment. If both are empty they
// follow from the times of what can be learnt from: the earliest eight tenths train, the next tenth validates.
type Until struct{ Train, Val string }

// NodesByTime returns the split of the nodes by one of NodeColumns; "" is the only one. Nodes whose time is not known, or of which nothing is to be learnt, are in no
// part. The error says which part would be empty, and which columns there are.
func (d *Dataset) NodesByTime(column string, u Until) (Split, error) {
	return splitByTime(d.NodeColumns, column, u, "node", learnable(d.Labels, d.MultiLabels, d.Targets))
}

// EdgesByTime is NodesByTime of the edges, in the graph's order, by one of EdgeColumns.
func (d *Dataset) EdgesByTime(column string, u Until) (Split, error) {
	return splitByTime(d.EdgeColumns, column, u, "edge", learnable(d.EdgeLabels, nil, d.EdgeTargets))
}

// learnable returns what reports whether anything is known of a row; where nothing is to be learnt, all rows are known.
func learnable(labels Labels, several *sparse.CSR, numbers *tensor.Dense) func(i int) bool {
	switch {
	case labels != nil:
		return func(i int) bool { return labels[i] >= 0 }
	case several != nil:
		return func(i int) bool {
			missing := 0
			for k := several.Offsets[i]; k < several.Offsets[i+1]; k++ {
				if several.Values != nil && several.Values[k] != several.Values[k] {
					missing++
				}
			}
			return missing < several.NumCols
		}
	case numbers != nil:
		return func(i int) bool {
			return slices.ContainsFunc(numbers.Row(i), func(v tensor.Float) bool { return v == v })
		}
	}
	return func(i int) bool { return true }
}

// Happened returns the column that says when what is learnt of happened, so that the latest can test what was learnt before: the only column
// of times of edges, or of dates of nodes if its name is that of an event (time, date, at, paid_at), and not that of a beginning (created_at,
// birth_date). If there is none, why says what is wrong with the columns that say when; empty:
// there are none.
func (d *Dataset) Happened() (column, why string) {
	from, noun := d.NodeColumns, "nodes"
	if d.LearnsEdges() {
		from, noun = d.EdgeColumns, "edges"
	}
	var names, others []string
	for _, c := range from {
		switch {
		case c.wrong != nil:
		case d.LearnsEdges() && !ofAnother(c.Name), !d.LearnsEdges() && c.Dated && ofEvent(c.Name):
			names = append(names, c.Name)
		default:
			others = append(others, c.Name)
		}
	}
	switch {
	case len(names) == 1:
		return names[0], ""
	case len(names) > 1:
		return "", fmt.Sprintf("columns %s say when, and which of them says when the %s happened is not clear", listed(names), noun)
	case len(others) > 0:
		return "", fmt.Sprintf("column %.40q does not divide them, as it may not say when the answers of the %s became known", others[0], noun)
	}
	return "", ""
}

// ofEvent reports whether a column's name says when a row of nodes, which may be people or goods as well as payments, happened: time or at
// alone, or with a word of what happened.
func ofEvent(name string) bool {
	words := strings.Split(form.Plain(name), "_")
	for _, w := range words[:len(words)-1] {
		if !slices.Contains([]string{"event", "transaction", "tx", "payment", "paid", "order", "ordered", "purchase", "purchased", "sale", "sold", "visit", "visited", "booking", "booked", "trip",
			"published", "publication", "posted", "post", "sent", "submitted", "reported", "occurred", "happened", "observed", "observation", "measured", "measurement", "recorded"}, w) {
			return false
		}
	}
	return slices.Contains([]string{"time", "timestamp", "date", "ts", "at"}, words[len(words)-1])
}

// ofAnother reports whether a column's name says that its times are not when an edge happened.
func ofAnother(name string) bool {
	return slices.ContainsFunc(strings.Split(form.Plain(name), "_"), func(w string) bool {
		return slices.Contains([]string{"birth", "born", "due", "expiry", "expires", "expired", "until", "end", "ended", "updated", "modified", "deleted"}, w)
	})
}

// ParseTime reads how to divide by time: time, time:COLUMN or time:COLUMN:A,B with where training and where validation ends. The column may be
// left out where there is only one.
func ParseTime(rule string) (column string, u Until, err error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(rule, "time"), ":")
	column, ends, _ := strings.Cut(rest, ":")
	if strings.Contains(column, ",") || len(column) > 4 && column[4] == '-' && column[0] >= '0' && column[0] <= '9' { // a time has colons of its own
		column, ends = "", rest // of the only one
	}
	if ends == "" {
		return column, u, nil
	}
	var ok bool
	if u.Train, u.Val, ok = strings.Cut(ends, ","); !ok || u.Train == "" || u.Val == "" {
		return "", u, fmt.Errorf("want where training and where validation ends after the column, such as time:year:2017,2018")
	}
	return column, u, nil
}

// splitByTime divides nodes or edges.
func splitByTime(columns []Column, name string, u Until, noun string, known func(i int) bool) (s Split, err error) {
	c, err := timeColumn(columns, name, noun)
	if err != nil {
		return s, err
	}
	x := c.order()
	for i := range x {
		if !known(i) {
			x[i] = NoTime
		}
	}
	train, val, err := u.bounds(c, x)
	if err != nil {
		return s, err
	}
	for i, v := range x {
		switch {
		case v == NoTime:
		case v <= train:
			s.Train = append(s.Train, int32(i))
		case v <= val:
			s.Val = append(s.Val, int32(i))
		default:
			s.Test = append(s.Test, int32(i))
		}
	}
	least, most, n := extremes(x)
	if n == 0 {
		return s, fmt.Errorf("column %.40q: no time is known of %ss that can be learnt from", c.Name, noun)
	}
	if least == most {
		return s, fmt.Errorf("column %.40q is %s for all %ss, which divides nothing: choose another column or other parts", c.Name, c.shown(least), noun)
	}
	for _, p := range s.parts() {
		if len(p.ids) == 0 {
			least, most, _ := extremes(c.order()) // of all rows
			return s, fmt.Errorf("column %.40q goes from %s to %s, and of its %ss none is left to %s: choose where training and validation end", c.Name, c.shown(least), c.shown(most), noun, map[string]string{"train": "train", "val": "validate", "test": "test"}[p.name])
		}
	}
	return s, nil
}

// timeColumn returns the column of that name, or the only one.
func timeColumn(columns []Column, name, noun string) (c Column, err error) {
	var names []string
	only, wrong := -1, error(nil)
	for i, c := range columns {
		switch {
		case name != "" && form.Plain(c.Name) == form.Plain(name):
			return c, c.wrong
		case c.wrong == nil:
			names, only = append(names, c.Name), i
		case wrong == nil:
			wrong = c.wrong
		}
	}
	switch {
	case name == "" && len(names) == 1:
		return columns[only], nil
	case name == "" && len(names) > 1:
		return c, fmt.Errorf("which column says when its %ss came? There are %s", noun, listed(names))
	case name == "" && wrong != nil:
		return c, wrong
	case len(names) == 0:
		return c, fmt.Errorf("nothing says when its %ss came: a column of a table is called year, time, date, timestamp, at or …_at for that", noun)
	}
	return c, fmt.Errorf("no column %.40q says when its %ss came; there are %s", name, noun, listed(names))
}

// order returns whole numbers in the order of the column's: its times, or places of its numbers.
func (c Column) order() []int64 {
	if c.Times != nil {
		return slices.Clone(c.Times)
	}
	out := make([]int64, len(c.Numbers))
	for i, v := range c.Numbers {
		out[i] = placeOf(v)
	}
	return out
}

// placeOf returns the place of a number among all float64, NoTime of NaN.
func placeOf(v float64) int64 {
	if v != v {
		return NoTime
	}
	k := int64(math.Float64bits(v + 0)) // −0 is 0
	if k < 0 {
		k ^= math.MaxInt64
	}
	return k
}

// numberAt is the number that has a place.
func numberAt(k int64) float64 {
	if k < 0 {
		k ^= math.MaxInt64
	}
	return math.Float64frombits(uint64(k))
}

// bounds returns the last moments of training and of validation.
func (u Until) bounds(c Column, x []int64) (train, val int64, err error) {
	if u == (Until{}) {
		sorted := slices.DeleteFunc(slices.Clone(x), func(v int64) bool { return v == NoTime })
		if len(sorted) == 0 {
			return 0, 0, fmt.Errorf("column %.40q: no time is known", c.Name)
		}
		slices.Sort(sorted)
		n := len(sorted)
		return sorted[max(0, n*8/10-1)], sorted[max(0, n*9/10-1)], nil
	}
	if train, err = c.moment(u.Train); err == nil {
		val, err = c.moment(u.Val)
	}
	if err == nil && train >= val {
		err = fmt.Errorf("%s is not before %s: training ends first, then validation", plain.Text(u.Train), plain.Text(u.Val))
	}
	return train, val, err
}

// dateForms are how dates are written, and how long each lasts.
var dateForms = []struct {
	form                string
	years, months, days int
}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {time.DateOnly, 0, 0, 1}, {"20060102", 0, 0, 1}}

// moment returns the last moment that a text means in a column.
func (c Column) moment(text string) (int64, error) {
	if !c.Dated {
		n, isWhole := form.WholeOf(text)
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || v-v != 0:
			return 0, fmt.Errorf("%.40q is no number, as column %.40q has them", text, c.Name)
		case c.Times == nil:
			return placeOf(v), nil
		case isWhole:
			return n, nil
		case v > 0:
			return math.MaxInt64, nil
		}
		return NoTime + 1, nil
	}
	for _, f := range dateForms {
		if t, err := time.Parse(f.form, text); err == nil {
			return t.AddDate(f.years, f.months, f.days).UnixMicro() - 1, nil
		}
	}
	if micros, ok := form.TimeOf(text); ok {
		return micros, nil
	}
	return 0, fmt.Errorf("%.40q is no time, as column %.40q has them: write 2017, 2017-06-30 or 2017-06-30T12:00:00Z", text, c.Name)
}

// shown is a place in the column's order, for people.
func (c Column) shown(k int64) string {
	switch {
	case c.Times == nil:
		return strconv.FormatFloat(numberAt(k), 'g', -1, 64)
	case !c.Dated:
		return strconv.FormatInt(k, 10)
	}
	t := time.UnixMicro(k).UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

// described says what the column has of each node or edge.
func (c Column) described(of string) string {
	if c.wrong != nil {
		return "no times: " + plain.Text(c.wrong.Error())
	}
	least, most, n := extremes(c.order())
	switch {
	case n == 0:
		return "none is known"
	case n < c.size():
		return fmt.Sprintf("one %s to split by, %s to %s, %d not known", of, c.shown(least), c.shown(most), c.size()-n)
	}
	return fmt.Sprintf("one %s to split by, %s to %s", of, c.shown(least), c.shown(most))
}

// extremes returns the least and the largest of what is known, and how many are.
func extremes(x []int64) (least, most int64, n int) {
	least, most = math.MaxInt64, math.MinInt64
	for _, v := range x {
		if v != NoTime {
			least, most, n = min(least, v), max(most, v), n+1
		}
	}
	return least, most, n
}

// rowsOf returns columns of the given rows; none, below 0, is not known.
func rowsOf(columns []Column, rows []int32) (out []Column) {
	for _, c := range columns {
		c.Times, c.Numbers = carried(c.Times, rows, NoTime), carried(c.Numbers, rows, math.NaN())
		out = append(out, c)
	}
	return out
}
