// Package edgelist reads lists of edges as text, the form of the Stanford Network
// Analysis Project (SNAP): two numbers of nodes a line, with blanks, tabs or a
// comma between them, perhaps after a byte-order mark, and comments in lines that begin with # or %.
//
//	err := edgelist.Read(r, func(u, v int64) error { … })
//
// The numbers are as they stand: they may leave gaps. What is done with an edge is
// up to the caller, and so is the memory that a long list takes.
package edgelist
