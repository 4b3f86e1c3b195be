// Package gatbench is the command of that name, as a package that several programs
// can be made of. What the command does is in the documentation of cmd/gatbench.
//
//	func main() { os.Exit(gatbench.Main()) }
//
// A network is a row of the table in models.go; its settings come from a preset
// in recipe.go and from flags, and are saved with it. What bench times is in
// package bench below this one, the pictures are in draw, what demo shows in demo.
//
// Main is called once in a process: it heeds the signals that end a command, and it
// sets the name by which messages call the program.
package gatbench
