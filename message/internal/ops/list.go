package ops

// The operations. A new one has a line here, after Sparsemax, and one in the list.
const (
	LeafU Kind = iota // the row of the edge's source
	LeafV             // that of its destination
	LeafE             // its own
	LeafW             // an array that all edges share
	Unary
	Binary
	DotLast
	SumLast
	MaxLast
	LogSumExpLast
	Pick
	Dropout
	Gumbel
	MatMul
	Softmax
	LogSoftmax
	Normalise
	TopK
	Sparsemax
	Expand // from here on: made by plans, never said
	ScaleBy
	Score  // Dot(LeakyReLU(U + V), W) without its parts; run by package exec, as Affine is
	Affine // U times one number for each run, plus V
	end
)

// list holds them by kind.
var list = [end]*Op{
	LeafU:         {Name: "U"},
	LeafV:         {Name: "V"},
	LeafE:         {Name: "E"},
	LeafW:         {Name: "W"},
	Unary:         &unary,
	Binary:        &binary,
	DotLast:       &dotLast,
	SumLast:       &sumLast,
	MaxLast:       &maxLast,
	LogSumExpLast: &logSumExpLast,
	Pick:          &pick,
	Dropout:       &dropout,
	Gumbel:        &gumbel,
	MatMul:        &matMul,
	Softmax:       &softmax,
	LogSoftmax:    &logSoftmax,
	Normalise:     &normalise,
	TopK:          &topK,
	Sparsemax:     &sparsemax,
	Expand:        &expand,
	ScaleBy:       &scaleBy,
	Score:         {Name: "U+V score"},
	Affine:        {Name: "U times + V", Operands: 2, Reads: affineReads},
}

// affineReads are those of the gradient of U, which is the first operand of an Affine, and of that
// of the numbers that it is multiplied with.
func affineReads(_ *Step, operand int) Reads { return [2]Reads{Second, 0}[operand] }

// Said returns the operations that messages may say.
func Said() (kinds []Kind) {
	for k := LeafW + 1; k < Expand; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// Op is the operation of a kind.
func (k Kind) Op() *Op { return list[k] }

// Reads says what the gradient of an operand is computed from.
func (s *Step) Reads(operand int) Reads {
	if f := list[s.Kind].Reads; f != nil {
		return f(s, operand)
	}
	return 0
}

// IsLeaf reports whether k reads an array.
func (k Kind) IsLeaf() bool { return k <= LeafW }

// AcrossInEdges reports whether k sees all in-edges of a destination.
func (k Kind) AcrossInEdges() bool { return list[k].Across != nil }

// HasAttribute reports whether a node of kind k has an [Attribute].
func (k Kind) HasAttribute() bool { return list[k].Extra != Nothing }

// Paired reports whether a node of kind k has two operands.
func (k Kind) Paired() bool { return list[k].Operands == 2 }

// String returns the name that a user knows.
func (k Kind) String() string { return list[k].Name }
