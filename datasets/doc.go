// Package datasets makes of what files say the tensors that networks are trained on. Its first noun is [Dataset]: a graph, the
// features and labels of its nodes or edges, and which of them are for training.
//
//	d, err := datasets.Load("shop_edges.csv") // a file, a folder or an archive, whose form its name says
//	d, err := datasets.LoadAs("shop_edges.csv", columns.Roles{Label: []string{"churned"}, Undirected: true})
//	d, err := datasets.Open(dataDir, "citeseer") // by name: Catalogue lists them
//
// [Load] is three steps, which a program can take one by one, such as for rows of a database:
//
//	raw, err := form.Load("shop_edges.csv", form.Options{}) // or form.SQL
//	s, err := columns.Choose(raw, columns.Roles{Label: []string{"churned"}})
//	d, err := datasets.From(raw, s)
//
// What begins with Load takes a path. Of a stream or a file system, [form.Read] and [form.ReadFS] make the raw data of the first step, from
// which [From], [GraphsFrom], [KnowledgeFrom] and [InteractionsFrom] go on; form.ReadSplits and others read what is no dataset.
//
// Package form lists the forms of files that are read, and package columns says what becomes of columns; d.Schema is what was learnt from them.
// [Dataset.Fit] learns it anew for another split. Package models goes on from here: models.Prepare makes of a Dataset what networks read.
//
// [Karate] is part of this package, and an embedded Cora is in package datasets/cora. [Houses] draws a graph whose classes and
// explanations are known, and [Bank] draws tables of customers and payments.
//
// The second noun is [Graphs], many graphs that are an example each, such as molecules:
// [LoadGraphs] and [OpenGraphs] read them, [CSL] and others draw some, and a [GraphBatch] is
// a few of them side by side.
//
//	d, err := datasets.OpenGraphs(dataDir, "MUTAG")
//	b := d.Batch([]int32{3, 1, 4}) // b.Graph, b.Features, b.Labels, …
//
// [Knowledge] is the facts of a knowledge graph, and [Interactions] is who chose what.
//
// Labels, weights and splits mean the same in every form: docs/use/datasets.md says what.
//
// Graphs have no self-loops, and each edge of a kind once unless the Schema keeps repeated edges. Those that are known by name have
// both directions of it, except WebKB's; the others have what their files say, and
// [Dataset.Undirected] adds the rest. Features are as published, so normalise them
// if the model wants it.
//
// Errors name the file, the line or array, and the value. Pickles are decoded and
// never run, archives are read in memory, and what expands without bound is refused.
package datasets
