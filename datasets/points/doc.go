// Package points makes sets of points, and the orders that answer them: points from the
// lowest to the highest, the corners of a convex hull, the shortest tour. Answers are
// exact, so a network that learns them can be marked.
//
//	sets := points.Task{Count: 128, Min: 5, Seed: step}.Hull()
//	g := sets.Graph()         // a chain for each set
//	x := grad.Const(sets.X)   // a row for each point
//	sets.Answers[0]           // places in the first set, from 0
//
// The same is found for points of your own by [Ascending], [Hull] and [Tour]; [Area] and
// [Length] measure any answer.
//
// A [Task] draws points from the unit square, as numbers that float32 holds exactly, so a
// build of other elements has the same points and the same answers.
package points
