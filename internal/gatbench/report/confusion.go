package report

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
)

// Confusion prints a row for each of the classes, which may have names: how many of its nodes were
// given which. Short names head the columns, too.
func (p *Printer) Confusion(classes int, names []string, c *train.Confusion) {
	const most, short = 40, 8 // columns of a name at a row, and of one that heads a column
	name := func(class int) string {
		if class < len(names) {
			return plain.Fit(plain.Text(names[class]), most)
		}
		return ""
	}
	long, wide := 0, 5
	for want := range classes {
		long = max(long, plain.Width(name(want)))
		for got := range classes {
			wide = max(wide, len(fmt.Sprint(c.At(want, got))))
		}
	}
	named := long > 0 && long <= short
	if named {
		wide = max(wide, long)
	}
	p.Printf("%3s %s", "", plain.Pad("", long))
	for got := range classes {
		head := fmt.Sprint(got)
		if named {
			head = name(got)
		}
		p.Printf(" %s%s", strings.Repeat(" ", wide-plain.Width(head)), head)
	}
	p.Printf("\n")
	for want := range classes {
		p.Printf("%3d %s", want, plain.Pad(name(want), long))
		for got := range classes {
			p.Printf(" %*d", wide, c.At(want, got))
		}
		p.Printf("\n")
	}
}
