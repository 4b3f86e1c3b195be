package draw

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Training is what is drawn of a training.
type Training struct {
	Title, Model string // what the picture calls the data and the network
	Epochs       []train.Epoch
	Best         int    // the epoch of the model; 0: none
	Score        string // what is scored; empty: the accuracy, in per cent
	Once         bool   // only the validation part has a score, and no part a loss

	// What is drawn of classes of nodes besides.
	*datasets.Dataset
	Hidden    *tensor.Dense // what the network has learnt of each node
	Predicted []int32       // the class of each node
	Test      []int32       // the nodes whose errors are counted
}

// Write draws the loss and the score into a file; of classes of nodes also what the network has learnt of
// each node, and how errors depend on the degree.
func (t *Training) Write(path string) error { return savePanels(path, t.panels()) }

// Text returns the same panels for a terminal of that many columns.
func (t *Training) Text(width int, colour bool) string {
	return picture.Text(t.panels(), width, colour)
}

func (t *Training) panels() [][]picture.Panel {
	panels := [][]picture.Panel{{t.lossPanel(), t.scorePanel()}}
	if t.Hidden != nil {
		panels = append(panels, []picture.Panel{t.hiddenPanel(), t.degreePanel()})
	}
	return panels
}

// savePanels writes rows of panels into a file, in the form that its name ends in.
func savePanels(path string, panels [][]picture.Panel) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return picture.Grid(panels).Write(w, strings.TrimPrefix(filepath.Ext(path), "."))
	})
}

// curve returns the line of a number of each epoch.
func (t *Training) curve(i int, name string, of func(train.Epoch) float64) picture.Series {
	line := picture.Series{Name: name, Mark: picture.Curve, Colour: picture.Colour(i)}
	for _, e := range t.Epochs {
		line.Points = append(line.Points, picture.Point{X: float64(e.N), Y: of(e)})
	}
	return line
}

// mark returns an upright line at the epoch of the model.
func (t *Training) mark() picture.Series {
	at := t.Best
	return picture.Series{
		Name: fmt.Sprintf("model: epoch %d", at), Mark: picture.Upright, Colour: picture.Grey,
		Points: []picture.Point{{X: float64(at)}},
	}
}

func (t *Training) lossPanel() *picture.Chart {
	c := &picture.Chart{
		Title: fmt.Sprintf("%s on %s: loss", t.Model, plain.Text(t.Title)),
		X:     picture.Axis{Label: "epoch", Whole: true}, Y: picture.Axis{Label: "loss"},
	}
	training := func(name string) picture.Series {
		return t.curve(0, name, func(e train.Epoch) float64 { return e.Loss })
	}
	if t.Once {
		c.Series = append(c.Series, training("training"))
	} else {
		c.Series = append(c.Series, training("training, with dropout"), t.curve(1, "validation", func(e train.Epoch) float64 { return e.Val.Loss }))
	}
	c.Series = append(c.Series, t.mark())
	return c
}

func (t *Training) scorePanel() *picture.Chart {
	title, unit, times := t.Score, "", 1.0
	if title == "" {
		title, unit, times = "accuracy", "per cent", 100
	}
	score := func(i int, name string, of func(train.Epoch) train.Score) picture.Series {
		return t.curve(i, name, func(e train.Epoch) float64 { return times * of(e).Accuracy })
	}
	c := &picture.Chart{Title: title, X: picture.Axis{Label: "epoch", Whole: true}, Y: picture.Axis{Label: unit}}
	validation := score(1, "validation", func(e train.Epoch) train.Score { return e.Val })
	if t.Once {
		c.Series = []picture.Series{validation, t.mark()}
		return c
	}
	c.Series = []picture.Series{
		score(0, "training", func(e train.Epoch) train.Score { return e.Train }), validation,
		score(2, "test", func(e train.Epoch) train.Score { return e.Test }), t.mark(),
	}
	return c
}

// hiddenPanel shows the first two principal components of the hidden layer, a
// point a node, coloured by class. Nodes far from all others stand on the border, so that
// the others keep their room.
func (t *Training) hiddenPanel() *picture.Chart {
	classes := make([]picture.Series, t.Classes)
	for c := range classes {
		classes[c] = picture.Series{Name: className(t.Dataset, c), Mark: picture.Dots, Colour: picture.Colour(c)}
	}
	points, beyond := principal(t.Hidden), 0
	edge := borderOf(points)
	for v, p := range points {
		if c := t.Labels[v]; c >= 0 {
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

// className returns what a picture calls a class.
func className(d *datasets.Dataset, c int) string {
	if c < len(d.ClassNames) {
		return plain.Text(strings.ReplaceAll(d.ClassNames[c], "_", " "))
	}
	return fmt.Sprintf("class %d", c)
}

// degreePanel shows the share of wrong test nodes among those of similar degree.
func (t *Training) degreePanel() *picture.Chart {
	bars := picture.Series{Mark: picture.Bars, Colour: picture.Colour(0)}
	var names []string
	for i, b := range t.errorsByDegree() {
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
func (t *Training) errorsByDegree() []degreeBin {
	bins := []degreeBin{{low: 0, high: 0}, {low: 1, high: 1}}
	for high := 2; high/2 < t.Graph.NumNodes(); high *= 2 {
		bins = append(bins, degreeBin{low: high/2 + 1, high: high})
	}
	for _, v := range t.Test {
		d := t.Graph.InDegree(int(v))
		i := slices.IndexFunc(bins, func(b degreeBin) bool { return d <= b.high })
		i = max(i, 0)
		bins[i].nodes++
		if t.Predicted[v] != t.Labels[v] {
			bins[i].wrong++
		}
	}
	return slices.DeleteFunc(bins, func(b degreeBin) bool { return b.nodes == 0 })
}
