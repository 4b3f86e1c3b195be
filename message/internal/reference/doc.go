// Package reference evaluates messages in float64, one number after another, with bounds for what Float may be
// off by, forward and backward: see internal/rounding. Tests hold every way to run a message against it.
//
// An operand is known by the place of its elements in memory: views of one array share their gradients.
package reference
