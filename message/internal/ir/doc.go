// Package ir is the one representation of what a message says.
//
// A [Program] is a list of [Node]s, each a leaf or a function of nodes before it;
// the last one is the message. Beside it stand what the leaves are like, and what
// some nodes need beside their operands. Nothing here knows an array, a tape or a
// graph, so a program says what many calls have in common. Operations and reducers are
// those of package ops:
//
//	message.Msg        a program and the Vars that it reads
//	      │
//	   Program         here: nodes, leaves, reducers
//	      ├── rules    look for a program that has a way of its own
//	      └── plan     makes the steps of it that tiles run
//
// An [Expr] is a place in a program, from which a rule walks to its operands.
package ir
