// Package datasets reads graphs that are published for node classification and
// brings them into one form. Its first noun is [Dataset]: a graph, the features and
// labels of its nodes or edges, and which of them are for training.
//
//	d, err := datasets.Open(dataDir, "citeseer")
//	x, err := d.Normalised() // of words; others stay as they are: see FeatureKind
//	g := d.Graph.WithSelfLoops() // attention layers want them
//
// [Open] finds datasets by name: [Catalogue] lists them. [Karate] is part of this
// package, and an embedded Cora is in package datasets/cora. [Read] reads a file
// or a folder, whose form its name says, and a function for each form reads that:
// [Planetoid], [LINQS], [WebKB], [NPZ], [Tables], [JSON], [EdgeList], [MatrixMarket], [GraphML],
// [DOT], [OGB].
//
// [Houses] draws a graph whose classes and explanations are known.
//
// The second noun is [Graphs], many graphs that are an example each, such as molecules:
// [ReadGraphs] and [OpenGraphs] read them, [CSL] and others draw some, and a [GraphBatch] is
// a few of them side by side.
//
//	d, err := datasets.OpenGraphs(dataDir, "MUTAG")
//	b := d.Batch([]int32{3, 1, 4}) // b.Graph, b.Features, b.Labels, …
//
// Labels, weights and splits mean the same in every form: docs/use/datasets.md says what.
//
// Graphs have each edge once and no self-loops. Those that are known by name have
// both directions of it, but for WebKB's; the others have what their files say, and
// [Dataset.Undirected] adds the rest. Features are as published, so normalise them
// if the model wants it.
//
// Errors name the file, the line or array, and the value. Pickles are decoded and
// never run, archives are read in memory, and what expands without bound is refused.
package datasets
