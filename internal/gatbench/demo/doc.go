// Package demo has models at work that a person can watch, a file for each: what it
// reads, the network, the training, and what came of it.
//
// A Demo is run on a Stage, which is where it shows: a line of progress, a table or a
// sentence at the end, a picture, a saved model. All of them are in All, in the order in
// which they are best read.
//
//	d := demo.Find("names")
//	err := d.Run(&demo.Stage{Ctx: ctx, Out: report.NewPrinter(os.Stdout), Progress: report.NewProgress(os.Stderr)})
//
// All that a demo draws follows from hashes of its seed, of what is drawn and of the step, so
// two seeds share nothing. [Stage.Numbers] are what came of it, which several seeds are compared by.
//
// A file reads from top to bottom as one would explain it: the data, the network, what a
// step is, what is measured. What they share, a loop over batches and the words at the
// end, is in stage.go and training.go.
package demo
