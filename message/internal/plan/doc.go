// Package plan makes of a program the steps that tiles run.
//
//	ir.Program
//	   │  compile   each node becomes a step, operands first, with its shape
//	   │  join      steps that follow each other become one, which reads rows where they stand
//	   │  layout    each step's values get a place in an edge's scratch and, for backward, those
//	   │            that are read, and their gradients
//	   ▼
//	  Plan          what package exec runs
//
// A [Plan] knows no array and no graph: it serves any call whose leaves have the
// same shapes, on any number of goroutines.
package plan
