// Package datasets reads graphs that are published for node classification and
// brings them into one form. Its noun is [Dataset]: a graph, the features and
// labels of its nodes, and which of them are for training.
//
//	d, err := datasets.Open(dataDir, "citeseer")
//	x := d.Normalised()
//	g := d.Graph.WithSelfLoops() // attention layers want them
//
// [Open] knows Cora, CiteSeer and PubMed with the standard split, which it reads
// from disk, and [Karate], which is part of this package; an embedded Cora is in
// package datasets/cora. Graphs have both directions of every edge, once, and no
// self-loops; features are as published, so normalise them if the model wants it.
package datasets
