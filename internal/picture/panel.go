package picture

// Panel is a part of a picture.
type Panel interface {
	// Draw draws the panel into a box of a canvas.
	Draw(c *Canvas, box Box)
}

// The size of a panel with the room around it, and that room, in points.
const (
	panelWidth  = 412
	panelHeight = 298
	panelRoom   = 14
)

// Grid returns a picture of rows of panels, all of one size.
func Grid(rows [][]Panel) *Canvas {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	c := New(panelWidth*float64(columns), panelHeight*float64(len(rows)))
	for j, row := range rows {
		for i, p := range row {
			left, top := panelWidth*float64(i), panelHeight*float64(j)
			p.Draw(c, Box{left + panelRoom, top + panelRoom, left + panelWidth - panelRoom, top + panelHeight - panelRoom/2})
		}
	}
	return c
}
