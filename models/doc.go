// Package models turns data into a network that has learnt, keeps it in one file, and answers questions by it about rows that
// were not there:
//
//	files, folders, archives, SQL, Parquet
//	   │  form.Load, form.SQL
//	   ▼
//	form.Raw                          edges, ids, columns as they were written
//	   │  columns.Choose, datasets.From (or both and form.Load at once: datasets.LoadAs)
//	   ▼
//	datasets.Dataset                  graph, features, labels, split; its Schema says how columns were read
//	   │  Prepare
//	   ▼
//	Data                              what networks read: loops added, features scaled
//	   │  Data.New, Network.Fit, Data.Trained, Trained.Save
//	   ▼
//	model file                        weights, network, Schema, Preparation, classes, scores
//	   │  Load
//	   ▼
//	Predictor                         Predict, Explain, Embed: of any form.Raw with the same columns
//
// The first [Example] walks this way. A [Model] is a network's plan, such as GAT{Hidden: 64, Layers: 3}, whose zero value is that of the
// paper; [Named] looks one up by its name. A [Preparation] says what becomes of features before a network reads them, and a [Goal] what
// is learnt. [Trained] is a network with all that it takes to use it, which [Trained.Save] writes and [Load] reads; [Trained.Write] and [Read] are the same for streams. A [Query] says which rows
// are asked about, and by which [Plan] they are computed.
//
// Everything that is learnt from columns is learnt from the rows that train and is kept: which words there are, what stands for an empty
// number, when times begin, the scales. So a row gets the same answer, to the bit, in any company and in any order of the tables, as long as
// its neighbourhood is the same. This holds on one kind of processor and one build. A neighbourhood is what the layers look at: a layer of
// most models looks one edge far, one of sgc, appnp, tag, cheb, gcn2, h2gcn and gatedgraph several, and gcn and arma read the degrees of the
// farthest nodes. There are two exceptions, in which every row depends on all others: encodings of the whole graph, such as pagerank, and
// gps, which attends to all nodes.
//
// Networks can be made without a dataset, too. [New] makes one for nodes, [NewEdges] for edges, [NewGraphs] for whole graphs, [NewLinks] for
// links that may be missing, and [NewFacts] for the facts of a knowledge graph:
//
//	net, err := models.New(models.GAT{Hidden: 64, Layers: 3}, models.Shape{In: 1433, Out: 7}, 1)
//	y := net.Forward(t, g, layers.In{Src: x})
package models
