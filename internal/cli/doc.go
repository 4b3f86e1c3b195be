// Package cli is what every command of the program stands on, whatever it is about: the world as a command sees it, mistakes of the
// user, signals, the files that a command reads and writes, how the program is called, and results that are kept by their settings.
// It knows no task.
package cli
