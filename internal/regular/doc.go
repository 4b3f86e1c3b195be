// Package regular refuses inputs that are no ordinary files, before they are
// opened: opening a pipe waits for somebody who writes, reading a device need not
// end, and readers look at a file's length and at its first bytes twice.
//
//	if err := regular.File(path); err != nil {
//		return err // names the file, says what it is and what to do
//	}
//
// What is looked at is the file that a link leads to. Whoever changes it between
// the look and the opening is not kept from it: this is against mistakes.
package regular
