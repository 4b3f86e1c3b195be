package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// The size of a panel of a picture.
const (
	panelWidth  = 14 * vg.Centimeter
	panelHeight = 10 * vg.Centimeter
)

// palette tells lines and classes apart, for people who see few colours too
// (Okabe and Ito, 2008). More classes than colours share them.
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{86, 180, 233, 255},
	color.RGBA{90, 90, 90, 255}, color.RGBA{240, 228, 66, 255},
}

func colour(i int) color.Color { return palette[i%len(palette)] }

// newPanel returns an empty panel.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{}, roundTicks{}
	p.Legend.Top, p.Legend.Left, p.Legend.YOffs, p.Legend.Padding = true, true, vg.Points(-4), vg.Points(2)
	return p
}

// placeLegend moves a legend to the right edge, with its marks before its words
// and a fifth of its width to spare: a viewer of SVG without the font takes
// another, and the words must cross neither the marks nor the edge.
func placeLegend(p *plot.Plot, c draw.Canvas) {
	area := p.DataCanvas(c)
	p.Legend.XOffs = area.Size().X - 1.2*p.Legend.Rectangle(area).Size().X
}

// roundTicks are ticks at multiples of 1, 2 or 5 times a power of ten, all with as
// many decimals as that needs.
type roundTicks struct{}

// Ticks returns three to eight ticks from lo to hi.
func (roundTicks) Ticks(lo, hi float64) []plot.Tick {
	power := math.Floor(math.Log10((hi - lo) / 5))
	step := math.Pow(10, power)
	for _, times := range []float64{2, 2.5, 2} { // 2, 5 and 10
		if step*5 < (hi-lo)*(1-1e-9) {
			step *= times
		}
	}
	decimals := int(max(0, -math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*step; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'f', decimals, 64)})
	}
	return ticks
}

// plot draws four panels of a training into a file: loss, accuracy, what the
// network has learnt of each node, and how errors depend on the degree.
func (s *session) plot(path string) error {
	t := grad.NewEval()
	hidden := s.net.hidden(t, s.graph, s.features).Value()
	logits := s.net.Forward(t, s.graph, s.features).Value()
	panels := [][]*plot.Plot{
		{s.lossPanel(), s.accuracyPanel()},
		{s.hiddenPanel(hidden), s.degreePanel(logits)},
	}
	return savePanels(path, panels)
}

// savePanels writes rows of panels, all of one size.
func savePanels(path string, panels [][]*plot.Plot) error {
	rows, cols := len(panels), len(panels[0])
	w, h := vg.Length(cols)*panelWidth, vg.Length(rows)*panelHeight
	c, err := draw.NewFormattedCanvas(w, h, strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tiles := draw.Tiles{
		Rows: rows, Cols: cols, PadX: vg.Centimeter, PadY: vg.Centimeter,
		PadTop: vg.Centimeter / 2, PadBottom: vg.Centimeter / 2, PadLeft: vg.Centimeter / 2, PadRight: vg.Centimeter / 2,
	}
	for j, row := range plot.Align(panels, tiles, draw.New(c)) {
		for i, canvas := range row {
			placeLegend(panels[j][i], canvas)
			panels[j][i].Draw(canvas)
		}
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := c.WriteTo(w)
		return err
	})
}

// curve adds a line of a number of each epoch.
func (s *session) curve(p *plot.Plot, i int, name string, of func(train.Epoch) float64) {
	var xys plotter.XYs
	for _, e := range s.history.Epochs {
		xys = append(xys, plotter.XY{X: float64(e.N), Y: of(e)})
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return // a NaN has no place on a curve
	}
	line.Color, line.Width = colour(i), vg.Points(1.2)
	p.Add(line)
	p.Legend.Add(name, line)
}

// mark adds an upright line at the epoch of the model.
func (s *session) mark(p *plot.Plot) {
	at := float64(s.summary.BestEpoch)
	line, err := plotter.NewLine(plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}})
	if err != nil {
		return
	}
	line.Color, line.Dashes = color.Gray{128}, []vg.Length{vg.Points(3), vg.Points(3)}
	p.Add(line)
	p.Legend.Add(fmt.Sprintf("model: epoch %d", s.summary.BestEpoch), line)
}

func (s *session) lossPanel() *plot.Plot {
	p := newPanel(fmt.Sprintf("%s on %s: loss", s.report.model().title, s.Name), "epoch", "cross-entropy")
	s.curve(p, 0, "training, with dropout", func(e train.Epoch) float64 { return e.Loss })
	s.curve(p, 1, "validation", func(e train.Epoch) float64 { return e.Val.Loss })
	s.mark(p)
	return p
}

func (s *session) accuracyPanel() *plot.Plot {
	p := newPanel("accuracy", "epoch", "per cent")
	p.Legend.Top = false
	p.Legend.YOffs = vg.Points(6)
	s.curve(p, 0, "training", func(e train.Epoch) float64 { return 100 * e.Train.Accuracy })
	s.curve(p, 1, "validation", func(e train.Epoch) float64 { return 100 * e.Val.Accuracy })
	s.curve(p, 2, "test", func(e train.Epoch) float64 { return 100 * e.Test.Accuracy })
	s.mark(p)
	return p
}

// hiddenPanel shows the first two principal components of the hidden layer, a
// point a node, coloured by class.
func (s *session) hiddenPanel(hidden *tensor.Dense) *plot.Plot {
	points := principal(hidden)
	p := newPanel("hidden layer, by class", "first principal component", "second")
	p.X.Max = 0 // room for the legend is made below
	longest := 0
	for c := range s.Classes {
		var xys plotter.XYs
		for v, label := range s.Labels {
			if int(label) == c {
				xys = append(xys, plotter.XY{X: points[v][0], Y: points[v][1]})
			}
		}
		dots, err := plotter.NewScatter(xys)
		if err != nil {
			continue // no node is of that class
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: colour(c), Radius: vg.Points(1.3), Shape: draw.CircleGlyph{}}
		p.Add(dots)
		big := *dots
		big.GlyphStyle.Radius = vg.Points(3)
		p.Legend.Add(s.className(c), &big)
		longest = max(longest, utf8.RuneCountInString(s.className(c)))
	}
	share := legendShare(longest)
	p.X.Max += share / (1 - share) * (p.X.Max - p.X.Min)
	return p
}

// legendShare is what part of a panel's axis a legend takes whose longest name
// has so many letters, but at most six tenths.
func legendShare(letters int) float64 {
	width := vg.Length(letters)*vg.Points(6.4) + 1.2*vg.Centimeter // of letters of 12 points in any font, and of a dot
	return min(0.6, float64(width/(panelWidth-2.4*vg.Centimeter)))
}

func (k *task) className(c int) string {
	if c < len(k.ClassNames) {
		return strings.ReplaceAll(k.ClassNames[c], "_", " ")
	}
	return fmt.Sprintf("class %d", c)
}

// degreePanel shows the share of wrong test nodes among those of similar degree.
func (s *session) degreePanel(logits *tensor.Dense) *plot.Plot {
	p := newPanel("errors by degree", "neighbours", "wrong test nodes, per cent")
	bins := errorsByDegree(s.task, logits)
	values, names := make(plotter.Values, len(bins)), make([]string, len(bins))
	for i, b := range bins {
		values[i] = 100 * float64(b.wrong) / float64(b.nodes)
		names[i] = fmt.Sprintf("%s\n(%d)", b.name(), b.nodes)
	}
	bars, err := plotter.NewBarChart(values, vg.Points(24))
	if err != nil {
		return p // there are no test nodes
	}
	bars.Color = colour(0)
	bars.LineStyle.Width = 0
	p.Add(bars)
	p.NominalX(names...)
	p.Y.Min = 0
	return p
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
