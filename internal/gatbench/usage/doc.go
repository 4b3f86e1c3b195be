// Package usage says what the system knows of memory and processors: how much this
// process has taken, and how busy others keep the machine.
package usage
