// Package cora holds the citation network Cora (Sen and others, 2008) with the
// split of Planetoid (Yang and others, 2016): 2,708 papers, 5,278 citations, a
// bag of 1,433 words for each paper and its class out of seven.
//
// Its one noun is [Load]:
//
//	d, err := cora.Load()
//
// The data are part of the program: 70 kB, which only programs that import this
// package carry. sources.txt has the SHA-256 of the files they were made from;
// the command in the go:generate line makes them again, and LICENSE.txt is their
// licence. The compressed file
// holds a line that names the form, the numbers of nodes, features and classes,
// the class of each node, the three parts of the split, the in-neighbours of
// each node, and the features of each node that are one. A list is its length
// and the gaps between ascending ids; every number is a uvarint.
package cora
