package message

import "github.com/edgewise-ml/edgewise/message/internal/ir"

// Reducer combines the messages that arrive at a node. Under every reducer a
// node without messages gets zero.
type Reducer uint8

// The reducers, in the order of package ir.
const (
	Sum       Reducer = iota // Σ m
	Mean                     // Σ m / n
	Max                      // the largest; ties go to the lowest edge
	Min                      // the smallest; ties go to the lowest edge
	Std                      // √(Σ(m − mean)²/n), with slope 0 where it is 0
	LogSumExp                // log Σ eᵐ
)

// String returns the reducer's name.
func (r Reducer) String() string { return ir.Reducer(r).String() }
