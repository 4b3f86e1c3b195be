package datasets

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
	if d.EdgeFeatures != nil {
		b.line("", "%s", d.edgesSay())
	}
	d.describeLabels(b)
	if s := d.Split; len(s.Train)+len(s.Val)+len(s.Test) == 0 {
		b.line("split", "none")
	} else {
		b.line("split", "%d graphs train, %d validation, %d test", len(s.Train), len(s.Val), len(s.Test))
	}
	if len(d.unread) > 0 {
		b.line("not read", "%s", listed(d.unread))
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
