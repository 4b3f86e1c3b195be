// Package plain shows strings that come from data (names in an archive, classes,
// paths, errors about them) on a terminal, where an escape sequence in one could
// clear the screen, rename the window or forge a line of output.
//
//	plain.Text("Neural_Networks") // Neural_Networks
//	plain.Text("\x1b[2J")         // "\x1b[2J", quoted as Go quotes it
//
// A string is harmful if it has control characters, bytes that are no UTF-8, line or
// paragraph separators, or characters that change the direction of the text around
// them. Letters, marks, digits, punctuation, symbols and blanks of every script are
// harmless.
//
// [Text] is for one string, [Lines] for an error, which may have several lines, and
// [JSON] for a marshalled object. [Width], [Pad] and [Fit] count columns of a terminal.
package plain
