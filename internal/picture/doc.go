// Package picture draws charts into SVG and PNG. Its nouns:
//
//   - a [Canvas] is a list of lines, discs, rectangles and words, in points
//     (1/72 inch) from the top left corner. It is written as SVG, or painted as
//     PNG at two pixels a point: one list, so both look alike;
//   - a [Chart] puts series of points between two axes with round ticks;
//   - a [Heading] is a title with a legend that takes as many lines as it needs;
//   - a [Heat] is a table in shades, a [Tree] a tree of words with a shade a node;
//   - [Lanes] are what each of some threads did when, as bars on one axis;
//   - a [Panel] draws into a box: a chart, a table, a tree, or anything else. [Grid] places rows
//     of panels on one canvas;
//   - a [Plane] is points with lines through them, such as a tour.
//
// [Text] shows the same panels in a terminal, with charts in braille characters. A [List] is the text of a
// panel that has no axes: names, indented as a tree if they are one, with bars.
//
// A picture of one chart:
//
//	loss := &picture.Chart{Title: "loss", X: picture.Axis{Label: "epoch"}}
//	loss.Series = append(loss.Series, picture.Series{
//		Name: "training", Mark: picture.Curve, Colour: picture.Colour(0), Points: points,
//	})
//	err := picture.Grid([][]picture.Panel{{loss}}).Write(w, "svg")
//
// Words are set in Go Regular, which PNG carries in its pixels. SVG names it and
// states the width of each piece of text, so that a viewer which lacks the font
// stretches another one into the same place. Points that are no numbers, or too
// large to scale, are left out of a chart. The same calls give the same bytes.
package picture
