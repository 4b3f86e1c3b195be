package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/picture"
)

// Cell is a kernel on a graph at a width, and how fast it is.
type Cell struct {
	Kernel, Graph string
	Degree        float64 // edges a node
	Columns       string
	Width         int     // of all columns
	Value         float64 // the share of what the machine could do, in per cent; with Other how many times faster than that
	Other         string
}

// Sweep is cells of one kind: all have an Other, or none has.
type Sweep []Cell

// Write draws a table for each kernel, with a row for each graph, by its degree, and a column for
// each width. Kernels of one width are columns of a table together.
func (s Sweep) Write(path string) error { return savePanels(path, s.panels()) }

// Text returns the tables for a terminal of that many columns.
func (s Sweep) Text(width int, colour bool) string { return picture.Text(s.panels(), width, colour) }

// panels are the tables, two in a row.
func (s Sweep) panels() [][]picture.Panel {
	var kernels []string
	widths := map[string]map[string]bool{}
	for _, c := range s {
		if widths[c.Kernel] == nil {
			kernels, widths[c.Kernel] = append(kernels, c.Kernel), map[string]bool{}
		}
		widths[c.Kernel][c.Columns] = true
	}
	var all []picture.Panel
	var single Sweep
	for _, k := range kernels {
		some := slices.DeleteFunc(slices.Clone(s), func(c Cell) bool { return c.Kernel != k })
		if len(widths[k]) > 1 {
			all = append(all, some.table(k, "columns"))
			continue
		}
		for _, c := range some {
			c.Columns, c.Width = fmt.Sprintf("%s, %s", c.Kernel, c.Columns), len(single)
			single = append(single, c)
		}
	}
	if len(single) > 0 {
		all = append(all, single.table("at one width", "kernel"))
	}
	return slices.Collect(slices.Chunk(all, 2))
}

// table is the cells of a kernel.
func (s Sweep) table(title, across string) *picture.Heat {
	h := &picture.Heat{Across: across, Down: "graph, edges a node", Title: title + ": per cent of what this machine could do", Top: 100}
	if s[0].Other != "" {
		const top = 4
		h.Title, h.Ratios, h.Top = title+": times faster than the fastest other, which is named", true, top
		h.Legend = []picture.Key{
			{Name: "edgewise is ahead", Mark: picture.Bars, Colour: picture.Ratio(2, top)},
			{Name: "the other is ahead, in a frame", Mark: picture.Bars, Colour: picture.Ratio(0.5, top)},
		}
	}
	rows, columns := slices.Clone(s), slices.Clone(s)
	slices.SortStableFunc(rows, func(a, b Cell) int { return cmp.Compare(a.Degree, b.Degree) })
	slices.SortStableFunc(columns, func(a, b Cell) int { return cmp.Compare(a.Width, b.Width) })
	for _, c := range rows {
		if name := c.row(); !slices.Contains(h.Rows, name) {
			h.Rows = append(h.Rows, name)
		}
	}
	for _, c := range columns {
		if !slices.Contains(h.Columns, c.Columns) {
			h.Columns = append(h.Columns, c.Columns)
		}
	}
	for range h.Rows {
		h.Values = append(h.Values, slices.Repeat([]float64{math.NaN()}, len(h.Columns)))
		h.Words = append(h.Words, make([]string, len(h.Columns)))
	}
	for _, c := range s {
		i, j := slices.Index(h.Rows, c.row()), slices.Index(h.Columns, c.Columns)
		h.Values[i][j], h.Words[i][j] = c.Value, c.word()
	}
	return h
}

// row is the name of a graph's row.
func (c Cell) row() string { return fmt.Sprintf("%s, %.3g", c.Graph, c.Degree) }

// word is what stands in a cell.
func (c Cell) word() string {
	if c.Other == "" {
		return fmt.Sprintf("%.0f", c.Value)
	}
	return fmt.Sprintf("%.2f %s", c.Value, c.Other)
}
