// Package table reads tables as text, CSV and its like: a line that names the columns,
// and then a line a row. Between fields are tabs, commas or semicolons, whichever of
// these the first line has, or else blanks.
//
//	t, err := table.NewReader(r)
//	for t.Next() {
//		… t.Line(), t.Fields()
//	}
//	err = t.Err()
//
// A field may stand in quotes, within which two quotes are one, but not go on in
// another line: lines have a bound, and so has the memory of a file without any. Empty
// lines are skipped, and before the names those that begin with # or %. The text is UTF-8, or
// UTF-16 that begins with a byte-order mark.
package table
