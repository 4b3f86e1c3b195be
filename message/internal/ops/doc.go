// Package ops has the operations and the reducers of messages, a file each.
//
//	list                       the operations; those of reducers are in message/reducer.go
//	unary … sparsemax          one operation a file, and
//	sum  best  std  logsumexp  one reducer
//	across  op  reducer        how one runs that sees all in-edges; what an operation is, and a reducer
//
// An [Op] says which shape its messages have, what its gradient reads, and how it is computed
// forward and backward on a [Tile]: plain arrays with a row for each of some edges. A [Reducer]
// does the same for the messages of a destination. None of them knows a program, a plan, a graph
// or a tape. Package plan asks for shapes and reads, package exec calls the functions, once for
// each tile or each destination of it and never for an edge.
//
// docs/inside/adding-an-operation.md adds one.
package ops
