// Package gatbench is the command of that name, as a package that several programs
// can be made of. What the command does is in the documentation of cmd/gatbench.
//
//	func main() { os.Exit(gatbench.Main()) }
//
// Each verb has a file: train.go, eval.go, predict.go and so on. A verb knows no task by its name: tasks.go lists them, and package
// task has their interface. What bench times is in package bench below this one, the pictures are in draw, what demo shows in demo,
// and what every verb stands on in package cli.
//
// Main is called once in a process: it heeds the signals that end a command, and it
// sets the name by which messages call the program.
package gatbench
