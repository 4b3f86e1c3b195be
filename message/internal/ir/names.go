package ir

import "github.com/edgewise-ml/edgewise/message/internal/ops"

// The names of package ops that callers know by this one.
type (
	Kind      = ops.Kind
	Attribute = ops.Attribute
	Reducer   = ops.Reducer
)

const (
	LeafU         = ops.LeafU
	LeafV         = ops.LeafV
	LeafE         = ops.LeafE
	LeafW         = ops.LeafW
	Unary         = ops.Unary
	Binary        = ops.Binary
	DotLast       = ops.DotLast
	SumLast       = ops.SumLast
	MaxLast       = ops.MaxLast
	LogSumExpLast = ops.LogSumExpLast
	Pick          = ops.Pick
	Dropout       = ops.Dropout
	Gumbel        = ops.Gumbel
	MatMul        = ops.MatMul
	Softmax       = ops.Softmax
	LogSoftmax    = ops.LogSoftmax
	Normalise     = ops.Normalise
	TopK          = ops.TopK
	Sparsemax     = ops.Sparsemax
	Score         = ops.Score
)

var (
	Sum  = ops.Sum
	Mean = ops.Mean
	Max  = ops.Max
	Min  = ops.Min
)
