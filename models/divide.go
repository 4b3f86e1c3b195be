package models

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The rules by which [Divide] divides rows.
const (
	SplitOwn   = "own"      // the split that the data has
	SplitUsual = "60/20/20" // what data without a split gets, unless its times divide it
	SplitTime  = "time"     // perhaps with a colon and the column's name, and a colon and where training and validation end
	SplitFolds = "folds:"   // before a number
)

// Division is a split of rows and how they came to be divided.
type Division struct {
	datasets.Split
	Rule string // that divides them so again: SplitOwn where the data has the split
	Says string // a sentence about what was decided that the rule does not say; may be empty
}

// Divide divides the rows of a dataset of which anything is known, nodes or edges as the goal is of these, into those that train, validate
// and test. The rule is one of these:
//
//	own            the data's split. Where a part of it is missing, it is drawn from the others, always the same. Data that has none is
//	               divided by time if its rows say when they happened, and else as 60/20/20; the empty rule is the same
//	60/20/20       shares in per cent, drawn from the seed: of each class; of a number, of each tenth of its range
//	folds:5        fifths with about as many of each class: the fifth of the seed's number modulo five tests, the next validates
//	time           the earliest 80 % train, the next 10 % validate: by the only column that says when
//	time:COLUMN    by that column; time:COLUMN:A,B trains up to A and validates up to B
//
// A column that says which row is in which part becomes the data's split as it is read: [columns.Roles] names it.
// Edges between the same two nodes are in one part, unless time divides them. Of an edge and its reverse that say the same one is taken.
func Divide(g *Goal, d *datasets.Dataset, rule string, seed uint64) (*Division, error) {
	v := &divider{g: g, d: d, seed: seed, own: d.Split}
	if g.Of == form.OfEdges {
		p, err := NewPairing(d, g, false)
		if err != nil {
			return nil, err
		}
		v.pairs = p
	}
	return v.divide(rule)
}

// DivideGraphs is Divide of many graphs, of which nothing says when they came.
func DivideGraphs(g *Goal, d *datasets.Graphs, rule string, seed uint64) (*Division, error) {
	return (&divider{g: g, seed: seed, own: d.Split}).divide(rule)
}

// divider divides rows.
type divider struct {
	g     *Goal
	d     *datasets.Dataset // nil of graphs
	pairs *Pairing          // nil: rows are not edges
	seed  uint64
	own   datasets.Split
}

func (v *divider) divide(rule string) (out *Division, err error) {
	out = &Division{Rule: rule}
	switch {
	case rule == SplitOwn || rule == "":
		out, err = v.usual()
	case IsShares(rule):
		out.Split, out.Says, err = v.shares(rule)
	case strings.HasPrefix(rule, SplitFolds):
		out.Split, err = v.fold(strings.TrimPrefix(rule, SplitFolds))
	case IsByTime(rule):
		out.Split, err = v.time(rule)
	default:
		err = fmt.Errorf("%.60q is no way to divide: want own, three shares such as %s, folds:5 or time", rule, SplitUsual)
	}
	if err != nil {
		return nil, err
	}
	out.Split = v.known(out.Split)
	return out, nil
}

// rows is what there are several of.
func (v *divider) rows() string { return string(v.g.Of) + "s" }

// known is s without rows of which nothing is known. A mirrored pair of edges counts once, in the first part that one of the two is in.
func (v *divider) known(s datasets.Split) (out datasets.Split) {
	taken := []bool(nil)
	if v.pairs != nil {
		taken = make([]bool, len(v.pairs.Edge))
	}
	for _, part := range []struct{ from, into *[]int32 }{{&s.Train, &out.Train}, {&s.Val, &out.Val}, {&s.Test, &out.Test}} {
		for _, i := range *part.from {
			if v.pairs != nil {
				pair := v.pairs.Of[i]
				if !v.g.Known(i) || taken[pair] {
					continue
				}
				taken[pair], i = true, v.pairs.Edge[pair]
			}
			*part.into = append(*part.into, i)
		}
		slices.Sort(*part.into)
	}
	return out
}

// usual is the split that the data has, with what it lacks, or else the one that suits the data.
func (v *divider) usual() (*Division, error) {
	s, seed := v.own, v.seed
	if len(s.Train) == 0 && len(s.Val)+len(s.Test) == 0 {
		return v.suited()
	}
	out := &Division{Split: s, Rule: SplitOwn}
	v.seed = 0 // what is drawn belongs to the data
	defer func() { v.seed = seed }()
	var err error
	switch has := [3]bool{len(s.Train) > 0, len(s.Val) > 0, len(s.Test) > 0}; has {
	case [3]bool{true, false, true}:
		var part datasets.Split
		if part, err = v.of(s.Test, [3]float64{0, 25, 75}); v.few(s.Train) && err == nil {
			out.Split = datasets.Split{Train: s.Train, Val: part.Val, Test: part.Test}
			out.Says = fmt.Sprintf("the split of the data has no validation part, and few training %s: a quarter of the test %s validate", v.rows(), v.rows())
		} else if part, err = v.of(s.Train, [3]float64{75, 25, 0}); err == nil {
			out.Split = datasets.Split{Train: part.Train, Val: part.Val, Test: s.Test}
			out.Says = fmt.Sprintf("the split of the data has no validation part: a quarter of its training %s validate", v.rows())
		}
	case [3]bool{true, false, false}:
		in := make([]bool, v.g.Len())
		for _, i := range s.Train {
			in[i] = true
		}
		rest := slices.DeleteFunc(v.g.All(), func(i int32) bool { return in[i] })
		var part datasets.Split
		if part, err = v.of(rest, [3]float64{0, 50, 50}); err == nil && len(part.Val) > 0 && len(part.Test) > 0 {
			out.Split = datasets.Split{Train: s.Train, Val: part.Val, Test: part.Test}
			out.Says = fmt.Sprintf("the split of the data has a training part alone: half of the other %s validate, and half test", v.rows())
		} else if part, err = v.of(s.Train, [3]float64{60, 20, 20}); err == nil {
			out.Split = part
			out.Says = fmt.Sprintf("the split of the data has a training part alone: of these %s 60 %% train, 20 %% validate and 20 %% test", v.rows())
		}
	case [3]bool{false, true, true}, [3]bool{false, true, false}, [3]bool{false, false, true}:
		err = fmt.Errorf("the split of the data has no %s to train on", v.rows())
	}
	return out, err
}

// few reports whether rows are too few for a quarter of each class to validate.
func (v *divider) few(ids []int32) bool {
	const least = 4
	classes := map[int32]bool{}
	for _, i := range ids {
		if v.g.Kind == columns.OneClass {
			classes[v.g.Labels[i]] = true
		}
	}
	return len(ids) < least*max(2, len(classes))
}

// suited divides data that has no split: by time, or into shares.
func (v *divider) suited() (*Division, error) {
	column, s, why := v.when()
	if column != "" {
		return &Division{Split: s, Rule: SplitTime + ":" + column,
			Says: fmt.Sprintf("the data has no split, and column %.40q says when each of its %s happened: the earliest 80 %% train, the next 10 %% validate and the latest test", column, v.rows())}, nil
	}
	s, more, err := v.shares(SplitUsual)
	if err != nil {
		return nil, err
	}
	whole := "all"
	if v.g.Kind == columns.OneClass {
		whole = "each class"
	} else if v.strata() != nil {
		whole = "each tenth of the range"
	}
	says := fmt.Sprintf("the data has no split: of %s 60 %% train, 20 %% validate and 20 %% test, drawn from the seed", whole)
	for _, one := range []string{why, more} {
		if one != "" {
			says += "; " + one
		}
	}
	return &Division{Split: s, Rule: SplitUsual, Says: says}, nil
}

// IsShares reports whether a rule is shares, such as 60/20/20.
func IsShares(rule string) bool {
	return strings.Contains(rule, "/") && strings.Trim(rule, "0123456789./ %") == "" && rule[0] >= '0' && rule[0] <= '9'
}

// IsByTime reports whether a rule divides by time.
func IsByTime(rule string) bool { return rule == SplitTime || strings.HasPrefix(rule, SplitTime+":") }

// sharesOf reads shares.
func sharesOf(rule string) (shares [3]float64, err error) {
	parts := strings.Split(rule, "/")
	wrong := func(why string) error {
		return fmt.Errorf("%s: want the shares that train, validate and test in per cent, such as %s", why, SplitUsual)
	}
	if len(parts) != 3 {
		return shares, wrong(fmt.Sprintf("there are %d shares", len(parts)))
	}
	sum := 0.0
	for k, text := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(text, "% ")), 64)
		if err != nil || x-x != 0 {
			return shares, wrong(fmt.Sprintf("%.20q is no number", text))
		}
		if x <= 0 {
			return shares, wrong(fmt.Sprintf("nothing would %s", []string{"train", "validate", "test"}[k]))
		}
		shares[k], sum = x, sum+x
	}
	if math.Abs(sum-100) > 1e-6 {
		return shares, wrong(fmt.Sprintf("they sum to %g, not to 100", sum))
	}
	return shares, nil
}

// shares divides all rows into shares, and says which classes are too small for that.
func (v *divider) shares(rule string) (s datasets.Split, says string, err error) {
	shares, err := sharesOf(rule)
	if err != nil {
		return s, "", err
	}
	if s, err = v.of(v.g.All(), shares); err != nil {
		return s, "", err
	}
	return s, v.small(), nil
}

// small names the classes of one or two rows, which are not in each part.
func (v *divider) small() string {
	if v.g.Kind != columns.OneClass {
		return ""
	}
	size := make([]int, v.g.Outputs)
	for _, u := range v.units(v.g.All()) {
		for _, i := range u {
			size[v.g.Labels[i]]++
		}
	}
	var names []string
	for c, n := range size {
		if n == 1 || n == 2 {
			names = append(names, plain.Text(v.g.Class(c)))
		}
	}
	const most = 3 // by name
	switch n := len(names); {
	case n == 0:
		return ""
	case n > most:
		names = append(names[:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Sprintf("of %s there are only one or two %s, of which the first trains", strings.Join(names, ", "), v.rows())
}

// units are the rows that stay together: each alone, or the edges between the same two nodes.
func (v *divider) units(ids []int32) (list [][]int32) {
	if v.pairs != nil {
		return v.pairs.Bundles(ids)
	}
	for i := range ids {
		list = append(list, ids[i:i+1:i+1])
	}
	return list
}

// strata returns what puts units into strata: by their rarest class, or by the tenth of the range that a number is in; nil: all are in one.
func (v *divider) strata() func(units [][]int32) [][][]int32 {
	const least = 100 // numbers, so that a tenth has ten
	switch {
	case v.g.Kind == columns.OneClass:
		return func(units [][]int32) [][][]int32 {
			size := make([]int, v.g.Outputs)
			for _, u := range units {
				for _, i := range u {
					size[v.g.Labels[i]]++
				}
			}
			out := make([][][]int32, v.g.Outputs)
			for _, u := range units {
				rarest := slices.MinFunc(u, func(a, b int32) int {
					return cmp.Or(cmp.Compare(size[v.g.Labels[a]], size[v.g.Labels[b]]), cmp.Compare(a, b))
				})
				c := v.g.Labels[rarest]
				out[c] = append(out[c], u)
			}
			return out
		}
	case v.g.Kind == columns.Numbers && v.g.Outputs == 1 && len(v.g.All()) >= least:
		return func(units [][]int32) (out [][][]int32) {
			sorted := slices.Clone(units)
			slices.SortStableFunc(sorted, func(a, b []int32) int { return cmp.Compare(v.g.Numbers.Data[a[0]], v.g.Numbers.Data[b[0]]) })
			for at := range slices.Chunk(sorted, max(1, (len(sorted)+9)/10)) {
				out = append(out, at)
			}
			return out
		}
	}
	return nil
}

// of divides rows into shares, in each stratum, or, if a part has nothing so, without strata. A share of 0 gets nothing.
func (v *divider) of(ids []int32, shares [3]float64) (s datasets.Split, err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(i int32) bool { return !v.g.Known(i) })
	units := v.units(ids)
	for _, strata := range []func([][]int32) [][][]int32{v.strata(), nil} {
		rng := rand.New(rand.NewPCG(v.seed, 0x602020))
		c := cut{rng: rng, shares: shares}
		if strata == nil {
			c.stratum(slices.Clone(units))
		} else {
			for _, list := range strata(units) {
				c.stratum(list)
			}
		}
		c.rest()
		full := true
		for k, part := range []*[]int32{&s.Train, &s.Val, &s.Test} {
			*part = slices.Sorted(slices.Values(c.parts[k]))
			full = full && (shares[k] == 0) == (len(*part) == 0)
		}
		if full {
			return s, nil
		}
	}
	return s, fmt.Errorf("too few %s to be divided: something to learn is known of %d", v.rows(), len(ids))
}

// cut is what has been divided.
type cut struct {
	rng    *rand.Rand
	shares [3]float64
	parts  [3][]int32
	owed   [3]float64 // what rounding has taken from each part so far
	second [][]int32  // the second units of classes that have two rows
}

// stratum divides one stratum. As long as it has three rows, each part gets one.
func (c *cut) stratum(units [][]int32) {
	c.rng.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	rows := 0
	for _, u := range units {
		rows += len(u)
	}
	if wanted := c.wanted(); len(units) < wanted {
		for k, u := range units {
			if k == 0 && c.shares[0] > 0 {
				c.parts[0] = append(c.parts[0], u...)
			} else {
				c.second = append(c.second, u)
			}
		}
		return
	}
	for _, byUnits := range []bool{false, true} { // a few large units may fit into no part by their rows
		n := rows
		if byUnits {
			n = len(units)
		}
		left, parts := c.quota(n), [3][]int32{}
		for _, u := range units {
			size := len(u)
			if byUnits {
				size = 1
			}
			k := 0
			switch {
			case size <= left[1]:
				k = 1
			case size <= left[2]:
				k = 2
			case c.shares[0] == 0:
				k = 2
			}
			left[k] -= size
			parts[k] = append(parts[k], u...)
		}
		if !byUnits && (c.shares[1] > 0 && len(parts[1]) == 0 || c.shares[2] > 0 && len(parts[2]) == 0) {
			continue
		}
		for k := range parts {
			c.parts[k] = append(c.parts[k], parts[k]...)
		}
		return
	}
}

// wanted is how many parts there are to be.
func (c *cut) wanted() (n int) {
	for _, share := range c.shares {
		if share > 0 {
			n++
		}
	}
	return n
}

// quota is how many of n go into each part, at least one: what rounding takes from a part in one stratum it gets in the next.
func (c *cut) quota(n int) (out [3]int) {
	var exact [3]float64
	left := n
	for k, share := range c.shares {
		exact[k] = max(0, float64(n)*share/100+c.owed[k])
		out[k] = int(exact[k])
		left -= out[k]
	}
	short := func(k int) float64 { return exact[k] - float64(out[k]) }
	for ; left != 0; left -= cmp.Compare(left, 0) {
		k := 0
		for other := range out {
			if left > 0 && short(other) > short(k) || left < 0 && out[other] > 0 && (out[k] == 0 || short(other) < short(k)) {
				k = other
			}
		}
		out[k] += cmp.Compare(left, 0)
	}
	for k, share := range c.shares {
		if share == 0 && out[k] > 0 || share > 0 && out[k] == 0 {
			from, to := k, slices.Index(out[:], slices.Max(out[:]))
			if share > 0 {
				from, to = to, k
			}
			out[from]--
			out[to]++
		}
	}
	for k := range c.owed { // classes of three rows owe what no other can give
		c.owed[k] = min(max(exact[k]-float64(out[k]), -1), 1)
	}
	return out
}

// rest divides what small classes have beside what trains: as many of their rows as the shares say, as far as there are.
func (c *cut) rest() {
	list := c.second
	c.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	n := 2 * float64(len(list))
	if c.shares[0] == 0 {
		n /= 2
	}
	val, test := int(n*c.shares[1]/100+0.5), int(n*c.shares[2]/100+0.5)
	for k, u := range list {
		at := 0
		switch {
		case k < val:
			at = 1
		case k < val+test || c.shares[0] == 0:
			at = 2
		}
		c.parts[at] = append(c.parts[at], u...)
	}
}

// fold returns the fold of the seed's number: what is cut is the same for all seeds.
func (v *divider) fold(text string) (s datasets.Split, err error) {
	k, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return s, fmt.Errorf("want a number of folds after the colon, such as %s5", SplitFolds)
	case k < 3:
		return s, fmt.Errorf("%d folds: there must be at least 3, because one fold tests and another validates: %s5", k, SplitFolds)
	}
	units := v.units(v.g.All())
	if len(units) < k {
		return s, fmt.Errorf("%d folds: something to learn is known of %d %s: want at most as many folds", k, len(units), v.rows())
	}
	strata := [][][]int32{units}
	if v.g.Kind == columns.OneClass {
		strata = v.strata()(units)
		for c, list := range strata {
			switch n := len(list); {
			case n > 0 && n < 3:
				return s, fmt.Errorf("%d folds: %s has %d %s, which cannot be in each: take %s", k, v.g.Class(c), n, v.rows(), SplitUsual)
			case n > 0 && n < k:
				return s, fmt.Errorf("%d folds: %s has %d %s, which cannot be in each: take %s%d or %s", k, v.g.Class(c), n, v.rows(), SplitFolds, n, SplitUsual)
			}
		}
	}
	if v.d != nil && v.pairs == nil {
		folds, err := v.d.Folds(rand.New(rand.NewPCG(0, 0xf01d)), k)
		if err != nil {
			return s, err
		}
		return folds[v.seed%uint64(k)], nil
	}
	rng, parts, next := rand.New(rand.NewPCG(0, 0xf01d)), make([][]int32, k), 0
	for _, list := range strata {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, u := range list {
			parts[next] = append(parts[next], u...)
			next = (next + 1) % k
		}
	}
	test := int(v.seed % uint64(k))
	for f, ids := range parts {
		switch f {
		case test:
			s.Test = ids
		case (test + 1) % k:
			s.Val = ids
		default:
			s.Train = append(s.Train, ids...)
		}
	}
	return s, nil
}

// time divides by a column that says when.
func (v *divider) time(rule string) (s datasets.Split, err error) {
	column, u, err := datasets.ParseTime(rule)
	switch {
	case err != nil:
		return s, err
	case v.d == nil:
		return s, fmt.Errorf("nothing says when graphs came: take %s", SplitUsual)
	case v.g.Of == form.OfEdges:
		s, err = v.d.EdgesByTime(column, u)
	default:
		s, err = v.d.NodesByTime(column, u)
	}
	return s, err
}

// when divides by the column that says when each row happened, if there is one and it leaves each part what is to be learnt; else why says
// what is wrong with the columns that say when.
func (v *divider) when() (column string, s datasets.Split, why string) {
	if v.d == nil {
		return "", s, ""
	}
	column, why = v.d.Happened()
	if column == "" {
		return "", s, why
	}
	s, err := v.time(SplitTime + ":" + column)
	all := len(v.g.All())
	switch {
	case err != nil:
		why = err.Error()
	case len(s.Train)+len(s.Val)+len(s.Test) < all:
		why = fmt.Sprintf("column %.40q says not of all %s when they happened", column, v.rows())
	default:
		if lacks := v.lacks(v.known(s)); lacks != "" {
			why = fmt.Sprintf("by column %.40q, which says when, %s", column, lacks)
		}
	}
	if why != "" {
		return "", s, why
	}
	return column, s, ""
}

// lacks says what a part of a split by time would be without; empty: it can be learnt from.
func (v *divider) lacks(s datasets.Split) string {
	all := len(s.Train) + len(s.Val) + len(s.Test)
	of := map[int32][3]bool{}
	for k, part := range []struct {
		does string
		ids  []int32
	}{{"train", s.Train}, {"validate", s.Val}, {"test", s.Test}} {
		if 20*len(part.ids) < all || len(part.ids) == 0 {
			return fmt.Sprintf("%d of %d %s would %s", len(part.ids), all, v.rows(), part.does)
		}
		if v.g.Kind != columns.OneClass {
			continue
		}
		for _, i := range part.ids {
			in := of[v.g.Labels[i]]
			in[k] = true
			of[v.g.Labels[i]] = in
		}
	}
	var n [3]int
	for c := range int32(v.g.Outputs) {
		in, there := of[c]
		if there && !in[0] {
			return fmt.Sprintf("%s would be in no row that trains", v.g.Class(int(c)))
		}
		for k := range n {
			if in[k] {
				n[k]++
			}
		}
	}
	if least := min(2, len(of)); v.g.Kind == columns.OneClass && (n[1] < least || n[2] < least) {
		return fmt.Sprintf("only %s of one class would validate or test", v.rows())
	}
	return ""
}
