// Package edgelist reads lists of edges as text, the form of the Stanford Network
// Analysis Project (SNAP): two numbers of nodes a line, with blanks, tabs or a
// comma between them, and comments in lines that begin with # or %.
//
//	src, dst, err := edgelist.Read(r)
//
// The numbers are as they stand: they may leave gaps.
package edgelist
