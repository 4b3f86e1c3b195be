package report

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/train"
)

// Confusion prints a row for each of the classes, which may have names: how many of its nodes were given which.
func (p *Printer) Confusion(classes int, names []string, c *train.Confusion) {
	const most = 40 // columns of a name
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
	p.Printf("%3s %s", "", plain.Pad("", long))
	for got := range classes {
		p.Printf(" %*d", wide, got)
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
