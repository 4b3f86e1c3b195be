package ir

// Kind is what a node, or a step of a plan, does.
type Kind uint8

// The kinds. Leaves come first and what sees all in-edges of a destination last,
// so that a comparison tells them.
const (
	LeafU         Kind = iota // the row of the edge's source
	LeafV                     // that of its destination
	LeafE                     // its own
	LeafW                     // an array that all edges share
	Unary                     // a function of each element
	Binary                    // a function of pairs of elements, broadcast
	Expand                    // stretches a message to a shape; made by plans, never said
	ScaleBy                   // the product with one number for each run; made by plans
	DotLast                   // scalar products along the last axis
	SumLast                   // sums along it
	MaxLast                   // the largest along it
	LogSumExpLast             // log Σeᵐ along it
	Pick                      // the row of the edge's kind
	Dropout                   // zero, or more than it was
	Gumbel                    // adds noise, of which the largest is a draw
	Score                     // Dot(LeakyReLU(U + V), W) without its parts; made by plans
	Affine                    // U times one number for each run, plus V; made by plans
	MatMul                    // the product of the last axis with a matrix
	Softmax                   // from here on: across the in-edges of a destination
	LogSoftmax                // its logarithm
	Normalise                 // divides by the sum
	TopK                      // keeps the largest
	Sparsemax                 // the nearest point of the simplex
)

// IsLeaf reports whether k reads an array.
func (k Kind) IsLeaf() bool { return k <= LeafW }

// AcrossInEdges reports whether k sees all in-edges of a destination.
func (k Kind) AcrossInEdges() bool { return k >= Softmax }

// HasAttribute reports whether a node of kind k has an [Attribute].
func (k Kind) HasAttribute() bool { return k == Pick || k == Dropout || k == Gumbel }

// Paired reports whether a node of kind k has two operands.
func (k Kind) Paired() bool { return k == Binary || k == DotLast || k == MatMul }

// String returns the name that a user knows.
func (k Kind) String() string { return kindNames[k] }

var kindNames = [...]string{LeafU: "U", LeafV: "V", LeafE: "E", LeafW: "W", Unary: "Unary", Binary: "Binary",
	Expand: "stretch", DotLast: "Dot", SumLast: "SumLast", MaxLast: "MaxLast",
	LogSumExpLast: "LogSumExpLast", Pick: "Pick", Dropout: "Dropout", Softmax: "Softmax", LogSoftmax: "LogSoftmax",
	ScaleBy: "Mul by runs", Score: "U+V score", Affine: "U times + V", MatMul: "MatMul", Gumbel: "draw", Normalise: "Normalise", TopK: "TopK", Sparsemax: "Sparsemax"}
