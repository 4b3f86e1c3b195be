package lanes

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

// counts are the numbers of threads for which a table has a prediction.
var counts = []int{1, 2, 4, 8, 16, 32}

// partsMost is how many parts a table lists.
const partsMost = 15

// WriteTable writes what was recorded, what is predicted for 1 to 32 threads, and the parts that lose
// most of the threads' time on some number of them. These are as they were measured where the record
// has that number.
func (r *Record) WriteTable(w io.Writer, threads int, costs Costs) error {
	var b bytes.Buffer
	if r.Name != "" {
		fmt.Fprintf(&b, "%s, ", plain.Text(r.Name))
	}
	m := r.Measured()
	fmt.Fprintf(&b, "recorded on %s: %s, threads busy %.0f %%, %d loops\n\n", many(m.Threads, "thread"), long(m.Took), 100*m.Busy, len(m.Loops))
	one := r.On(1, costs).Took
	rows := [][]string{{"threads", "predicted", "growth", "busy"}}
	for _, n := range counts {
		s := r.On(n, costs)
		rows = append(rows, []string{fmt.Sprint(n), long(s.Took), fmt.Sprintf("%.1f", ratio(one, s.Took)), fmt.Sprintf("%.0f %%", 100*s.Busy)})
	}
	align(&b, rows)
	says := "predicted"
	s := r.On(threads, costs)
	if s.Threads == m.Threads {
		says, s = "measured", m
	}
	all := s.Parts()
	fmt.Fprintf(&b, "\nwhat loses most on %s, %s; lost: time of all threads without work\n\n", many(s.Threads, "thread"), says)
	rows = [][]string{{"lost", "of all", "why", "took", "work", "times", "chunks", "loop"}}
	rest := time.Duration(0)
	for i, p := range all {
		if i >= partsMost || p.Lost == 0 {
			rest += p.Lost
			continue
		}
		chunks, name := fmt.Sprint(p.Chunks), plain.Text(p.Name)
		if p.Serial {
			chunks, name = "", "before "+name
		}
		rows = append(rows, []string{
			long(p.Lost), fmt.Sprintf("%.1f %%", 100*ratio(p.Lost, s.Took)/float64(s.Threads)), p.Why.String(),
			long(p.Took), long(p.Work), fmt.Sprint(p.Times), chunks, name,
		})
	}
	align(&b, rows)
	if rest > 0 {
		fmt.Fprintf(&b, "others lose %s\n", long(rest))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ratio is a/b, 1 where there is no time.
func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// many is a number of things.
func many(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// long is a time in milliseconds, with three digits or more.
func long(d time.Duration) string {
	ms := float64(d) / 1e6
	digits := 3
	for _, bound := range []float64{1, 10, 100} {
		if ms >= bound {
			digits--
		}
	}
	return fmt.Sprintf("%.*f ms", digits, ms)
}

// align writes rows of cells below each other, each as wide as its column asks for: the last and words from the
// left, numbers from the right.
func align(b *bytes.Buffer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			room := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case rows[0][i] == "why", rows[0][i] == "loop":
				line.WriteString(cell + room)
			default:
				line.WriteString(room + cell)
			}
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
