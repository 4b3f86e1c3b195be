package message

import "github.com/edgewise-ml/edgewise/message/internal/ops"

// Reducer combines the messages that arrive at a node. Under every reducer a
// node without messages gets zero.
type Reducer uint8

// The reducers. A new one comes last, here and below.
const (
	Sum       Reducer = iota // Σ m
	Mean                     // Σ m / n
	Max                      // the largest; ties go to the lowest edge
	Min                      // the smallest; ties go to the lowest edge
	Std                      // √(Σ(m − mean)²/n), with slope 0 where it is 0
	LogSumExp                // log Σ eᵐ
)

// reducers are what computes them.
var reducers = []*ops.Reducer{
	Sum:       ops.Sum,
	Mean:      ops.Mean,
	Max:       ops.Max,
	Min:       ops.Min,
	Std:       ops.Std,
	LogSumExp: ops.LogSumExp,
}

// String returns the reducer's name.
func (r Reducer) String() string {
	if int(r) < len(reducers) {
		return reducers[r].Name
	}
	return "Reducer(?)"
}
