// Package explain says why a network gave a node its class: which edges and which
// features of its neighbourhood the answer comes from.
//
// A [Model] is a function of features and of weights of edges. A [Case] is one node,
// the neighbourhood that its class depends on, and the class; [NewLink] and [NewGraph]
// make cases of a pair of nodes and of a whole graph:
//
//	c, err := explain.New(model, g, x, explain.Node{Number: 17, Hops: 2})
//	e := c.Saliency()                        // gradient × input
//	e = c.Integrated(64)                     // the same along a path from nothing; it adds up
//	e = new(explain.GNNExplainer).Explain(c) // masks that are learnt
//	e = pg.Explain(c)                        // a PGExplainer that learnt from other cases
//	e = c.Attention(alpha1, alpha2)          // what layers attended to
//	for _, edge := range e.TopEdges(5) { … }
//	f := c.Fidelity(e, explain.Part{Edges: 5})
//
// An [Explanation] has a score for each edge and each feature. [Fidelity] says whether
// they can be believed: what becomes of the class's probability if the best of them
// are left out, and if nothing else is kept.
//
// Self-loops are not explained: they carry a node's own features, keep the weight 1
// and have the score 0. So have edges that are in the neighbourhood but too far away
// for the class to depend on them.
package explain
