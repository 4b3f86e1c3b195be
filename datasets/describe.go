package datasets

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// maxClassLines is the number of classes beyond which Describe lists no more.
const maxClassLines = 20

// describer puts lines together.
type describer struct{ strings.Builder }

func (b *describer) line(key, format string, args ...any) {
	fmt.Fprintf(b, "%-9s %s\n", key, fmt.Sprintf(format, args...))
}

// Describe writes what the dataset holds to w, a line each. Of datasets that DGL
// or PyG have too it says how many edges these count: PyG drops self-loops, and
// DGL keeps them.
func (d *Dataset) Describe(w io.Writer) error {
	b := new(describer)
	b.line("name", "%s", plain.Text(d.Name))
	b.line("nodes", "%d", d.Graph.NumNodes())
	d.describeEdges(b)
	shape := d.Features.Shape()
	if x, ok := d.Features.(*sparse.CSR); ok {
		b.line("features", "%d a node, sparse: %d nonzeros, %.2f %%", shape[1], x.NNZ(), 100*density(x))
	} else {
		b.line("features", "%v, dense", shape)
	}
	b.codes(d.Codes)
	if d.EdgeFeatures != nil {
		b.line("", "%d an edge", d.EdgeFeatures.Dim(1))
	}
	b.codes(d.EdgeCodes)
	b.columns(d.Schema)
	for i, c := range slices.Concat(d.NodeColumns, d.EdgeColumns) {
		b.line("", "%s: %s", plain.Text(c.Name), c.described([]string{"a node", "an edge"}[btoi(i >= len(d.NodeColumns))]))
	}
	d.describeLabels(b)
	if s := d.Split; len(s.Train)+len(s.Val)+len(s.Test) == 0 {
		b.line("split", "none")
	} else {
		b.line("split", "%d train, %d validation, %d test", len(s.Train), len(s.Val), len(s.Test))
		if n := len(d.Splits); n > 0 {
			b.line("", "the first of %s: --split-number K takes another", numbered(n))
		}
	}
	if len(d.unread) > 0 {
		b.line("not read", "%s", listed(d.unread))
	}
	for _, says := range d.Warnings {
		b.line("mind", "%s", plain.Text(says))
	}
	if says := d.Doubt(); says != "" {
		b.line("mind", "%s", plain.Text(says))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns says what becomes of each column.
func (b *describer) columns(s *columns.Schema) {
	if s == nil {
		return
	}
	for i, says := range s.Says() {
		b.line([]string{"columns", ""}[btoi(i > 0)], "%s", says)
	}
}

// counted is a number of things, with an s unless it is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// codes says how many of the features are codes.
func (b *describer) codes(codes []columns.Code) {
	words := 0
	for _, c := range codes {
		words += c.Words
	}
	switch len(codes) {
	case 0:
	case 1:
		b.line("", "1 of them is a code: a network learns a row for each of its %d words", words)
	default:
		b.line("", "%d of them are codes: a network learns a row for each of their %d words", len(codes), words)
	}
}

func (d *Dataset) describeEdges(b *describer) {
	n, loops := d.Graph.NumEdges(), d.selfLoops()
	direction := "each in both directions"
	if !d.Graph.Symmetric() {
		direction = "not each in both directions"
	}
	switch {
	case n == 0:
		b.line("edges", "none")
	case loops == 0:
		b.line("edges", "%d directed, %s, no self-loops", n, direction)
	default:
		b.line("edges", "%d directed, %s, with %d self-loops", n, direction, loops)
	}
	if d.Weights != nil {
		b.line("", "with weights")
	}
	if d.repeated > 0 {
		b.line("", "%s", d.repeatedSay())
	}
	if d.dangling > 0 {
		b.line("", "%d of the raw data were left out: one of their nodes is not there", d.dangling)
	}
	switch known := frameworksHave(d.Name) && loops == 0; {
	case known && d.loops > 0:
		b.line("", "PyG counts %d, DGL %d: it keeps %d self-loops", n, n+d.loops, d.loops)
	case known:
		b.line("", "PyG and DGL count as many")
	case d.loops > 0:
		b.line("", "%s of the raw data left out", counted(d.loops, "self-loop"))
	}
}

// repeatedSay says how many edges are repeated, and what became of them.
func (d *Dataset) repeatedSay() string {
	says := counted(d.repeated, "duplicate") + " of the raw data"
	if d.Schema != nil {
		switch d.Schema.Repeated {
		case columns.Keep:
			if d.repeated == 1 {
				return "1 of them repeats another, and is an edge of its own"
			}
			return fmt.Sprintf("%d of them repeat another, and are edges of their own", d.repeated)
		case columns.Sum:
			return says + ", whose numbers are added to those of the first"
		case columns.Count:
			return says + ", of which the weights say how many there are"
		}
	}
	return says + " left out"
}

func (d *Dataset) describeLabels(b *describer) {
	switch {
	case d.Targets != nil:
		b.line("targets", "%d a node", d.Targets.Shape()[1])
	case d.MultiLabels != nil:
		b.line("classes", "%d, of which a node may have several", d.Classes)
	case d.EdgeTargets != nil && d.Classes > 0:
		b.line("classes", "%d, of which an edge may have several", d.Classes)
	case d.EdgeTargets != nil:
		b.line("targets", "%d an edge", d.EdgeTargets.Dim(1))
	case d.EdgeLabels != nil:
		b.line("classes", "%d, one an edge", d.Classes)
	case d.Labels != nil:
		b.line("classes", "%d, the majority class %.1f %%", d.Classes, 100*d.majority())
	default:
		b.line("classes", "none")
	}
	noun := "node"
	if d.LearnsEdges() {
		noun = "edge"
	}
	b.classes(d.classSizes(), noun, d.ClassNames)
	if h, edges := d.Homophily(nil); h == h {
		b.line("homophily", "%.2f, over %d edges: 1 if neighbours are always alike, 0 as by chance, less if they differ", h, edges)
	}
}

// classes writes a line for each class, of which there are so many; noun is one example.
func (b *describer) classes(sizes []int, noun string, names []string) {
	for c, n := range sizes {
		if c == maxClassLines {
			b.line("", "and %d more", len(sizes)-c)
			break
		}
		name := ""
		if c < len(names) {
			name = "  " + plain.Text(names[c])
		}
		b.line("", "%d: %s%s", c, counted(n, noun), name)
	}
}

// majority returns the share of the largest class among the nodes that have one.
func (d *Dataset) majority() float64 {
	most, all := 0, 0
	for _, n := range d.classSizes() {
		most, all = max(most, n), all+n
	}
	return float64(most) / float64(max(1, all))
}

// selfLoops returns the number of loops of the graph.
func (d *Dataset) selfLoops() int {
	in, loops := d.Graph.In(), 0
	for v := range in.NumRows {
		cols, _ := in.Row(v)
		for _, u := range cols {
			if int(u) == v {
				loops++
			}
		}
	}
	return loops
}

func density(x *sparse.CSR) float64 {
	return float64(x.NNZ()) / max(1, float64(x.NumRows)*float64(x.NumCols))
}

// Describe writes what the graphs hold to w, a line each.
func (d *Graphs) Describe(w io.Writer) error {
	b := new(describer)
	b.line("name", "%s", plain.Text(d.Name))
	sizes := d.Sizes()
	if len(sizes) == 0 {
		sizes = []int{0}
	}
	b.line("graphs", "%d", d.Len())
	b.line("nodes", "%d, from %d to %d a graph", d.Graph.NumNodes(), slices.Min(sizes), slices.Max(sizes))
	b.line("edges", "%d directed, no self-loops", d.Graph.NumEdges())
	if d.repeated > 0 {
		b.line("", "%s of the raw data left out", counted(d.repeated, "duplicate"))
	}
	if d.loops > 0 {
		b.line("", "%s of the raw data left out", counted(d.loops, "self-loop"))
	}
	switch {
	case d.Features == nil:
		b.line("features", "none")
	case d.Attributes == 0 || d.Attributes == d.Features.Dim(1):
		b.line("features", "%d a node", d.Features.Dim(1))
	default:
		b.line("features", "%d a node: %d attributes, and a label one-hot", d.Features.Dim(1), d.Attributes)
	}
	b.codes(d.Codes)
	if d.EdgeFeatures != nil {
		b.line("", "%s", d.edgesSay())
	}
	b.codes(d.EdgeCodes)
	b.columns(d.Schema)
	d.describeLabels(b)
	if s := d.Split; len(s.Train)+len(s.Val)+len(s.Test) == 0 {
		b.line("split", "none")
	} else {
		b.line("split", "%d graphs train, %d validation, %d test", len(s.Train), len(s.Val), len(s.Test))
	}
	if len(d.unread) > 0 {
		b.line("not read", "%s", listed(d.unread))
	}
	for _, says := range d.Warnings {
		b.line("mind", "%s", plain.Text(says))
	}
	if d.doubt != "" {
		b.line("mind", "%s", plain.Text(d.doubt))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// edgesSay says what the features of edges are.
func (d *Graphs) edgesSay() string {
	says := fmt.Sprintf("%d an edge", d.EdgeFeatures.Dim(1))
	switch _, kinds := d.EdgeKinds(); {
	case kinds > 0 && d.EdgeNumbers > 0:
		return says + fmt.Sprintf(": %d numbers, and its kind one-hot", d.EdgeNumbers)
	case kinds > 0:
		return says + ": its kind one-hot"
	}
	return says
}

// describeLabels says what is to be learnt.
func (d *Graphs) describeLabels(b *describer) {
	labels, noun := d.Labels, "graphs"
	if d.NodeLabels != nil {
		labels, noun = d.NodeLabels, "nodes"
	}
	switch {
	case d.Targets != nil:
		b.line("targets", "%d a graph%s", d.Targets.Dim(1), zeroOrOne(d.Targets))
	case d.NodeTargets != nil:
		b.line("targets", "%d a node%s", d.NodeTargets.Dim(1), zeroOrOne(d.NodeTargets))
	case d.MultiLabels != nil:
		b.line("classes", "%d, of which a graph may have several", d.Classes)
	case labels == nil:
		b.line("classes", "none")
	default:
		sizes := make([]int, d.Classes)
		for _, c := range labels {
			if c >= 0 {
				sizes[c]++
			}
		}
		b.line("classes", "%d, one of each of the %s", d.Classes, noun)
		b.classes(sizes, strings.TrimSuffix(noun, "s"), d.ClassNames)
	}
}

// zeroOrOne says it of numbers if each that is known is 0 or 1: training takes them for labels.
func zeroOrOne(x *tensor.Dense) string {
	if slices.ContainsFunc(x.Data, func(v tensor.Float) bool { return v == v && v != 0 && v != 1 }) {
		return ""
	}
	return ", each 0 or 1: labels"
}

// Doubt returns what is legal in the raw data and yet often a mistake, and what to do about it; "" if
// nothing is. [Dataset.Describe] says it too.
func (d *Dataset) Doubt() string {
	// With as many edges as nodes all may be self-loops.
	if d.doubt == "" && d.Graph.NumEdges() <= d.Graph.NumNodes() && d.selfLoops() == d.Graph.NumEdges() {
		why := "there are no edges"
		if d.loops > 0 {
			why = fmt.Sprintf("its %d edges lead from nodes to themselves, and such are left out", d.loops)
		}
		return why + ": nothing is passed from node to node, so that a network sees each by itself"
	}
	return d.doubt
}

// Doubt returns what is legal in the raw data and yet often a mistake, and what to do about it; "" if
// nothing is. [Graphs.Describe] says it too.
func (d *Graphs) Doubt() string { return d.doubt }

// namesMost is how many names a line lists.
const namesMost = 10

// listed returns names for people, in quotes and not too many.
func listed(names []string) string {
	var out []string
	for i, n := range names {
		if i == namesMost {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%.40q", n))
	}
	return strings.Join(out, ", ")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
