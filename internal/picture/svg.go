package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
)

// svgWriter collects the elements of a picture.
type svgWriter struct{ bytes.Buffer }

// writeSVG writes a document of plain elements without style sheets.
func (c *Canvas) writeSVG(w io.Writer) error {
	out := &svgWriter{}
	width, height := number(c.width), number(c.height)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" `+
		`font-family="Go, 'Go Regular', Arial, Helvetica, sans-serif">`+"\n", width, height)
	rectangle{Box{0, 0, c.width, c.height}, White}.svg(out)
	for _, s := range c.shapes {
		s.svg(out)
	}
	out.WriteString("</svg>\n")
	_, err := out.WriteTo(w)
	return err
}

func (l polyline) svg(w *svgWriter) {
	w.WriteString(`<polyline points="`)
	for i, p := range l.points {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(number(p.X) + "," + number(p.Y))
	}
	fmt.Fprintf(w, `" fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round"`, hex(l.Colour), number(l.Width))
	if l.Dash > 0 {
		fmt.Fprintf(w, ` stroke-dasharray="%s"`, number(l.Dash))
	}
	w.WriteString("/>\n")
}

func (d disc) svg(w *svgWriter) {
	fmt.Fprintf(w, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", number(d.at.X), number(d.at.Y), number(d.radius), hex(d.fill))
}

func (r rectangle) svg(w *svgWriter) {
	fmt.Fprintf(w, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
		number(r.Left), number(r.Top), number(r.Width()), number(r.Height()), hex(r.fill))
}

func (r rectangles) svg(w *svgWriter) {
	w.WriteString(`<path d="`)
	for _, b := range r.boxes {
		fmt.Fprintf(w, "M%s %sh%sv%sh-%[3]sz", number(b.Left), number(b.Top), number(b.Width()), number(b.Height()))
	}
	fmt.Fprintf(w, `" fill="%s"/>`+"\n", hex(r.fill))
}

func (t words) svg(w *svgWriter) {
	x, y := number(t.at.X), number(t.at.Y)
	fmt.Fprintf(w, `<text x="%s" y="%s" font-size="%s" fill="%s"`, x, y, number(t.Size), hex(t.Colour))
	if t.Anchor != Start {
		fmt.Fprintf(w, ` text-anchor="%s"`, [...]string{Middle: "middle", End: "end"}[t.Anchor])
	}
	if t.Rising {
		fmt.Fprintf(w, ` transform="rotate(-90 %s %s)"`, x, y)
	}
	fmt.Fprintf(w, ` textLength="%s" lengthAdjust="spacingAndGlyphs">`, number(t.Letters.Width(t.text)))
	if err := xml.EscapeText(w, []byte(t.text)); err != nil {
		panic(err) // a buffer takes everything
	}
	w.WriteString("</text>\n")
}

// number writes a coordinate to a hundredth of a point.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0 makes -0 a plain nought
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
