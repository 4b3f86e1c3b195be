package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Until says where the parts of a split by time end: what is not later than Train trains, what
// is later and not later than Val validates, and what is later still tests. Each is a number, or
// of a column of times a date such as 2017, 2017-06 or 2017-06-30, of which all is meant, or a
// time. Empty ones follow from the column: the earliest eight tenths train, a tenth validates.
type Until struct{ Train, Val string }

// NodesByTime returns the split of the nodes by one of NodeColumns; "" is the only one of one
// number a node. Nodes whose time is not known, or of which nothing is to be learnt, are in no
// part. The error says which part would be empty, and which columns there are.
func (d *Dataset) NodesByTime(column string, u Until) (Split, error) {
	known := func(v int) bool { return true }
	if d.Labels != nil {
		known = func(v int) bool { return d.Labels[v] >= 0 }
	}
	return splitByTime(d.NodeColumns, column, u, "node", known)
}

// EdgesByTime is NodesByTime of the edges, in the graph's order, by one of EdgeColumns.
func (d *Dataset) EdgesByTime(column string, u Until) (Split, error) {
	known := func(e int) bool { return true }
	if d.EdgeLabels != nil {
		known = func(e int) bool { return d.EdgeLabels[e] >= 0 }
	}
	return splitByTime(d.EdgeColumns, column, u, "edge", known)
}

// splitByTime divides nodes or edges.
func splitByTime(columns []Column, name string, u Until, noun string, known func(i int) bool) (s Split, err error) {
	c, err := timeColumn(columns, name, noun)
	if err != nil {
		return s, err
	}
	x := c.Values.Data
	train, val, err := u.bounds(c, x)
	if err != nil {
		return s, err
	}
	for i, v := range x {
		switch {
		case v != v || !known(i):
		case float64(v) <= train:
			s.Train = append(s.Train, int32(i))
		case float64(v) <= val:
			s.Val = append(s.Val, int32(i))
		default:
			s.Test = append(s.Test, int32(i))
		}
	}
	for _, p := range s.parts() {
		if len(p.ids) == 0 {
			least, most := extremes(x)
			return s, fmt.Errorf("column %.40q goes from %s to %s, and of its %ss none is left to %s", c.Name, c.shown(least), c.shown(most), noun, map[string]string{"train": "train", "val": "validate", "test": "test"}[p.name])
		}
	}
	return s, nil
}

// timeColumn returns the column of that name, or the only one.
func timeColumn(columns []Column, name, noun string) (c Column, err error) {
	var names []string
	for _, c := range columns {
		if c.Values.Dim(1) == 1 {
			names = append(names, c.Name)
		}
	}
	i := slices.IndexFunc(columns, func(c Column) bool {
		return c.Values.Dim(1) == 1 && (name == "" && len(names) == 1 || plainColumn(c.Name) == plainColumn(name))
	})
	switch {
	case i >= 0:
		return columns[i], nil
	case len(names) == 0:
		return c, fmt.Errorf("nothing says when its %ss came: a column of a table is called year, time, date, timestamp or …_at for that", noun)
	case name == "":
		return c, fmt.Errorf("which column says when its %ss came? There are %s", noun, listed(names))
	}
	return c, fmt.Errorf("no column %.40q says when its %ss came; there are %s", name, noun, listed(names))
}

// bounds returns the last moments of training and of validation.
func (u Until) bounds(c Column, x []tensor.Float) (train, val float64, err error) {
	if u == (Until{}) {
		sorted := slices.Sorted(func(yield func(tensor.Float) bool) {
			for _, v := range x {
				if v == v && !yield(v) {
					return
				}
			}
		})
		if len(sorted) == 0 {
			return 0, 0, fmt.Errorf("column %.40q: no time is known", c.Name)
		}
		n := len(sorted)
		return float64(sorted[max(0, n*8/10-1)]), float64(sorted[max(0, n*9/10-1)]), nil
	}
	if train, err = c.moment(u.Train); err == nil {
		val, err = c.moment(u.Val)
	}
	if err == nil && !(train < val) {
		err = fmt.Errorf("%s is not before %s: training ends first, then validation", plain.Text(u.Train), plain.Text(u.Val))
	}
	return train, val, err
}

// dateForms are how dates are written, and how long each lasts.
var dateForms = []struct {
	form                string
	years, months, days int
}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {time.DateOnly, 0, 0, 1}}

// moment returns the last moment that a text means in a column.
func (c Column) moment(text string) (float64, error) {
	if !c.Days {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v-v != 0 {
			return 0, fmt.Errorf("%.40q is no number, as column %.40q has them", text, c.Name)
		}
		return v, nil
	}
	for _, f := range dateForms {
		if t, err := time.Parse(f.form, text); err == nil {
			end := t.AddDate(f.years, f.months, f.days)
			return math.Nextafter(float64(end.Unix())/day, 0), nil
		}
	}
	at, ok := timeOf([]byte(text), c.Name)
	if !ok {
		return 0, fmt.Errorf("%.40q is no time, as column %.40q has them: write 2017, 2017-06-30 or 2017-06-30T12:00:00Z", text, c.Name)
	}
	return at / day, nil
}

// shown is a value of the column for people.
func (c Column) shown(v float64) string {
	if c.Days {
		return time.Unix(int64(v*day), 0).UTC().Format(time.DateOnly)
	}
	return strconv.FormatFloat(v, 'g', -1, 32)
}

// extremes returns the least and the largest of what is known.
func extremes(x []tensor.Float) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if v == v {
			least, most = min(least, float64(v)), max(most, float64(v))
		}
	}
	return least, most
}
