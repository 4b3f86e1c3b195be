// Package report says what came of a command: to people in tables, paragraphs and a
// line of progress, to machines in JSON objects, and to TensorBoard in a log.
//
// A [Printer] prints either, in lines as wide as the terminal, and shows what comes from data as package plain does. A
// [Summary] is what came of one training; [Training] is the page about it, and [Table]
// the rows of several models on several datasets beside what was published. Nothing here
// trains, reads a file or knows a flag.
//
//	p := report.NewPrinter(os.Stdout)
//	p.Encode(summary)
//	return p.Err()
package report
