package runs

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/draw"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/regular"
)

// cell is a result for the picture.
func cell(b *bench.Benchmark, l *bench.Line) draw.Cell {
	g := b.At.Graph
	return draw.Cell{Kernel: b.Kernel(), Graph: g.Name, Degree: g.Degree(), Columns: b.Columns(), Width: b.At.Shape.Width(), Value: l.Extra.LimitPct}
}

// drawing is what can be shown in a terminal, and drawn to a file.
type drawing interface {
	Write(path string) error
	Text(width int, colour bool) string
}

// draw shows what was measured in the terminal or draws it to a file, as the settings say.
func (s *Settings) draw(e cli.Env, out *report.Printer, seen drawing) error {
	if s.Plot {
		out.Printf("\n")
		out.Drawn(seen.Text(cmp.Or(report.Width(e.Out), 80), out.Coloured()))
	}
	if s.Picture == "" {
		return nil
	}
	if err := seen.Write(s.Picture); err != nil || s.JSON {
		return err
	}
	out.Printf("picture in %s\n", s.Picture)
	return nil
}

// drawBeside draws the table that compare.py wrote.
func (s *Settings) drawBeside(e cli.Env) error {
	sweep, err := readBeside(s.Beside)
	if err != nil {
		return err
	}
	out := report.NewPrinter(e.Out)
	if err := s.draw(e, out, sweep); err != nil {
		return err
	}
	if !s.JSON {
		out.Next(cli.Program + " bench " + bench.Sparse)
	}
	return out.Err()
}

// readBeside reads a table of compare.py: of each kernel, graph and width how many times faster
// edgewise is than the fastest of the others.
func readBeside(path string) (draw.Sweep, error) {
	if err := regular.File(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(text), "\r\n"), "\n")
	head := strings.Split(strings.TrimRight(lines[0], "\r"), "\t")
	at := map[string]int{}
	for _, name := range strings.Fields("metric reference other ratio op graph nodes edges dim") {
		if at[name] = slices.Index(head, name); at[name] < 0 {
			return nil, fmt.Errorf("%s: line 1 names no column %q: write the table with cmd/gatbench/peers/compare.py", path, name)
		}
	}
	var out draw.Sweep
	for i, line := range lines[1:] {
		fields := strings.Split(strings.TrimRight(line, "\r"), "\t")
		if len(fields) != len(head) {
			return nil, fmt.Errorf("%s: line %d has %d columns, and line 1 names %d", path, i+2, len(fields), len(head))
		}
		row := besideRow{func(name string) string { return fields[at[name]] }, nil}
		kernel, ok := strings.CutPrefix(row.get("op"), "kernel/")
		if !ok || row.get("metric") != "median_ms" {
			continue
		}
		c := row.cell(kernel)
		if row.err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+2, row.err)
		}
		same := slices.IndexFunc(out, func(o draw.Cell) bool { return o.Kernel == kernel && o.Graph == c.Graph && o.Width == c.Width })
		switch {
		case same < 0:
			out = append(out, c)
		case c.Value < out[same].Value:
			out[same] = c
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: it has no kernel on a graph: measure some, as cmd/gatbench/peers/plan.sparse.json does", path)
	}
	return out, nil
}

// besideRow is a row of the table of compare.py, and what is wrong with it.
type besideRow struct {
	get func(name string) string
	err error
}

// number returns a finite number above nought.
func (r *besideRow) number(name string) float64 {
	v, err := strconv.ParseFloat(r.get(name), 64)
	if r.err == nil && (err != nil || !(v > 0) || math.IsInf(v, 0)) {
		r.err = fmt.Errorf("%s is %q, and must be a number above 0", name, r.get(name))
	}
	return v
}

// cell is the row as a cell.
func (r *besideRow) cell(kernel string) draw.Cell {
	if by := r.get("reference"); by != "edgewise" && !strings.HasPrefix(by, "edgewise,") {
		r.err = fmt.Errorf("the reference is %q: put edgewise first in each comparison of the plan", by)
	}
	other, _, _ := strings.Cut(r.get("other"), ",")
	return draw.Cell{
		Kernel: kernel, Graph: r.get("graph"), Degree: r.number("edges") / r.number("nodes"),
		Columns: r.get("dim"), Width: int(min(r.number("dim"), mostColumns)), Value: r.number("ratio"), Other: other,
	}
}
