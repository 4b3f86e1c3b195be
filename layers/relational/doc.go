// Package relational holds convolutions on graphs with several types of nodes, where
// [hetero.Graph] says what relations there are between them.
//
//	conv := &relational.HGTConv{In: map[string]int{"author": 64, "paper": 128}, Out: 32, Heads: 4, Rels: h.Rels()}
//	conv.Init(rng)
//	y := conv.Forward(t, h, map[string]*grad.Var{"author": a, "paper": p}) // a row for each node of each type
//
// These rules hold for every layer:
//
//   - Features and results are a map from the type of node to N×F, N the number of its nodes.
//   - On a block ([hetero.Split]) there are features of all its nodes, and results of its
//     destinations, the first nodes of each type; a type without destinations has no rows.
//   - A relation of the graph that the layer's Rels do not name is not read; one that they
//     name and the graph has not is an error.
//   - Self-loops, and relations against the direction, belong to the data.
//
// One kind of nodes with several kinds of edges is [layers.RGCNConv]'s.
package relational
