// Package nearest makes graphs of points, the rows of an array: each point hears those near it.
//
//	points := tensor.Of([]tensor.Float{0, 1, 3, 7}, 4, 1) // four on a line
//	g, err := nearest.KNN(points, 1)                      // edges 1→0, 0→1, 1→2 and 2→3
//
// [KNN] joins each point to its k nearest, [Radius] to all within a distance. [Neighbours] is KNN of several sets of points at
// once, and by angles. All are exact: a tree finds the candidates in few dimensions, products of tiles in many, and the choice
// among them is by distances in float64. Edges have no weights; distances follow from the points and the ends of the edges.
package nearest
