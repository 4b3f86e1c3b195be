// Package mistake words what package graph and the packages below it say of mistakes.
//
// What stands in a list is data: a wrong edge, kind or node is an error. What the program decides is not: it panics with a
// [*tensor.ShapeError] that names the function.
package mistake
