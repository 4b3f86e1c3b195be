// Package demo is gatbench demo: the list of models at work that a person can watch, their flags, and several seeds
// of one side by side.
//
// The demos stand in packages below it, a file for each, which reads from top to bottom as one would explain it: the
// data, the network, what a step is, what is measured. To add a demo, write its file and add its line to families:
//
//	// Echo says a row of numbers again.
//	var Echo = stage.Demo{Name: "echo", About: "a row of numbers said again", Act: echo{}, Seconds: 2}
//
//	// echo are the flags of Echo.
//	type echo struct {
//		Length int `default:"5" placeholder:"N" help:"How many numbers a row has. Default: 5."`
//	}
//
//	// Run trains the network and shows what it says.
//	func (f echo) Run(s *stage.Stage) error { … }
//
// A demo without flags of its own has a [stage.Func] instead of the struct. Run ends with a result, a picture and a
// model, which the tests of the command look for.
package demo
