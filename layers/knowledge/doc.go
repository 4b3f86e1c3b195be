// Package knowledge scores the facts of a knowledge graph: how true it is that a head has
// a relation to a tail.
//
//	x := t.Use(entities)                           // a row an entity; or what an encoder makes of them
//	loss := knowledge.Adversarial{}.Of(
//		scorer.Forward(t, facts, x),           // a score for each edge of a graph of facts
//		scorer.Forward(t, not, x), at)         // and for false ones, drawn by sample.Corruptions
//	ranks := knowledge.Ranks(scorer, x, test, train, val, test)
//	fmt.Println(ranks.MRR(), ranks.Hits(10))
//
// A graph of facts has the entities as nodes, and an edge from head to tail for each fact,
// whose kind is the relation. These rules hold for every [Scorer]:
//
//   - x is N×Width, a Param of its own or the result of an encoder such as
//     [layers.RGCNConv]; the relations' Params are the scorer's.
//   - The scores are E×1, in the graph's order of edges. A larger one is more true.
//   - Complex numbers stand as two halves of a row: real parts, then imaginary parts.
package knowledge
