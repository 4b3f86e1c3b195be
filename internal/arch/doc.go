// Package arch holds the tests of the repository's own shape: which package may
// import which, and the budgets that keep a package small enough to be read.
//
// It has no code to import. The table of imports is in imports_test.go, that of rooms with too many files in
// circles_test.go, and that
// of the budgets in budget_test.go; docs/inside/design.md says why they are what they
// are. A new package needs a line in the first:
//
//	"train": "grad tensor",
//
// A test may import upwards: the table binds what is compiled into a program.
package arch
