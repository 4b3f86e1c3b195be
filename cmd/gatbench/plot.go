package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// plot draws four panels of a training into a file: loss, accuracy, what the
// network has learnt of each node, and how errors depend on the degree.
func (s *session) plot(path string) error {
	t := grad.NewEval()
	hidden := s.net.hidden(t, s.hop(s.net), s.features).Value()
	logits := s.net.Forward(t, s.hop(s.net), s.features).Value()
	return savePanels(path, [][]picture.Panel{
		{s.lossPanel(), s.accuracyPanel()},
		{s.hiddenPanel(hidden), degreePanel(s.task, logits)},
	})
}

// savePanels writes rows of panels into a file, in the form that its name ends in.
func savePanels(path string, panels [][]picture.Panel) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return picture.Grid(panels).Write(w, strings.TrimPrefix(filepath.Ext(path), "."))
	})
}

// curve returns the line of a number of each epoch.
func (s *session) curve(i int, name string, of func(train.Epoch) float64) picture.Series {
	line := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)}
	for _, e := range s.history.Epochs {
		line.Points = append(line.Points, picture.Point{X: float64(e.N), Y: of(e)})
	}
	return line
}

// mark returns an upright line at the epoch of the model.
func (s *session) mark() picture.Series {
	at := s.summary.BestEpoch
	return picture.Series{
		Name: fmt.Sprintf("model: epoch %d", at), Mark: picture.Upright, Colour: picture.Grey,
		Points: []picture.Point{{X: float64(at)}},
	}
}

func (s *session) lossPanel() *picture.Chart {
	return &picture.Chart{
		Title: fmt.Sprintf("%s on %s: loss", s.recipe.model().title, plain.Text(s.Name)),
		X:     picture.Axis{Label: "epoch"}, Y: picture.Axis{Label: "cross-entropy"},
		Series: []picture.Series{
			s.curve(0, "training, with dropout", func(e train.Epoch) float64 { return e.Loss }),
			s.curve(1, "validation", func(e train.Epoch) float64 { return e.Val.Loss }),
			s.mark(),
		},
	}
}

func (s *session) accuracyPanel() *picture.Chart {
	return &picture.Chart{
		Title: "accuracy", X: picture.Axis{Label: "epoch"}, Y: picture.Axis{Label: "per cent"},
		Series: []picture.Series{
			s.curve(0, "training", func(e train.Epoch) float64 { return 100 * e.Train.Accuracy }),
			s.curve(1, "validation", func(e train.Epoch) float64 { return 100 * e.Val.Accuracy }),
			s.curve(2, "test", func(e train.Epoch) float64 { return 100 * e.Test.Accuracy }),
			s.mark(),
		},
	}
}

// hiddenPanel shows the first two principal components of the hidden layer, a
// point a node, coloured by class. Nodes far from all others stand on the border, so that
// the others keep their room.
func (s *session) hiddenPanel(hidden *tensor.Dense) *picture.Chart {
	classes := make([]picture.Series, s.Classes)
	for c := range classes {
		classes[c] = picture.Series{Name: s.className(c), Mark: picture.Dots, Colour: picture.Colour(c)}
	}
	points, beyond := principal(hidden), 0
	edge := borderOf(points)
	for v, p := range points {
		if c := s.Labels[v]; c >= 0 {
			at, moved := edge.hold(p)
			if moved {
				beyond++
			}
			classes[c].Points = append(classes[c].Points, picture.Point{X: at[0], Y: at[1]})
		}
	}
	switch beyond {
	case 0:
	case 1:
		classes = append(classes, picture.Series{Name: "1 node beyond the border stands on it"})
	default:
		classes = append(classes, picture.Series{Name: fmt.Sprintf("%d nodes beyond the border stand on it", beyond)})
	}
	return &picture.Chart{
		Title: "hidden layer, by class",
		X:     picture.Axis{Label: "first principal component"}, Y: picture.Axis{Label: "second"},
		Series: classes,
	}
}

func (k *task) className(c int) string {
	if c < len(k.ClassNames) {
		return plain.Text(strings.ReplaceAll(k.ClassNames[c], "_", " "))
	}
	return fmt.Sprintf("class %d", c)
}

// degreePanel shows the share of wrong test nodes among those of similar degree.
func degreePanel(k *task, logits *tensor.Dense) *picture.Chart {
	bars := picture.Series{Mark: picture.Bars, Colour: picture.Colour(0)}
	var names []string
	for i, b := range errorsByDegree(k, logits) {
		bars.Points = append(bars.Points, picture.Point{X: float64(i), Y: 100 * float64(b.wrong) / float64(b.nodes)})
		names = append(names, fmt.Sprintf("%s\n(%d)", b.name(), b.nodes))
	}
	return &picture.Chart{
		Title: "errors by degree",
		X:     picture.Axis{Label: "neighbours (test nodes)", Names: names}, Y: picture.Axis{Label: "wrong test nodes, per cent"},
		Series: []picture.Series{bars},
	}
}

// degreeBin is the test nodes of similar degree.
type degreeBin struct{ low, high, nodes, wrong int }

func (b degreeBin) name() string {
	if b.low == b.high {
		return fmt.Sprint(b.low)
	}
	return fmt.Sprintf("%d–%d", b.low, b.high)
}

// errorsByDegree counts test nodes and errors by degree: 0, 1, 2, 3–4, 5–8 and
// so on. Bins without nodes are left out.
func errorsByDegree(k *task, logits *tensor.Dense) []degreeBin {
	bins := []degreeBin{{low: 0, high: 0}, {low: 1, high: 1}}
	for high := 2; high/2 < k.Graph.NumNodes(); high *= 2 {
		bins = append(bins, degreeBin{low: high/2 + 1, high: high})
	}
	for _, v := range k.split.Test {
		d := k.Graph.InDegree(int(v))
		i := slices.IndexFunc(bins, func(b degreeBin) bool { return d <= b.high })
		i = max(i, 0)
		bins[i].nodes++
		if c, _ := likeliest(logits.Row(int(v))); int32(c) != k.Labels[v] {
			bins[i].wrong++
		}
	}
	return slices.DeleteFunc(bins, func(b degreeBin) bool { return b.nodes == 0 })
}
