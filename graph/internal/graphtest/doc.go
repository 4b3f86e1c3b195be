// Package graphtest has what the tests of package graph and of the packages below it share. It does not import graph, so
// that tests inside that package may use it.
package graphtest
