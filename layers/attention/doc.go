// Package attention holds what looks at many things and takes a mean of them: scores of
// how well a key answers a query, and the forms that are made of them.
//
// A graph says who looks at whom. Its destinations are queries, its sources are keys, and
// the weights of a query's in-edges come to one:
//
//	score := &attention.Additive{Key: 64, Query: 32, Hidden: 48}
//	score.Init(rng)
//	k := score.Keys(t, keys)                     // once, for any number of queries
//	alpha := score.Of(t, k, queries).Softmax()   // costs nothing until it is used
//	y := message.UpdateAll(g, message.U(values).Mul(alpha), message.Sum)
//
// [Soft] is these lines for any [Score] and [Weighing]; [HardAttention] looks at one value;
// [AttentionPool], [Hierarchical] and [ChainAttention] read many rows into one.
// docs/models/attention.md draws the graph of each.
//
// [MultiHead] is attention in several heads, [EncoderBlock] and [DecoderBlock] the blocks of a
// [Transformer] and a [LanguageModel], and a [Cache] keeps what was said: docs/models/transformers.md.
//
// These rules hold for every form:
//
//   - Sentences of any lengths stand in one graph. Nothing is padded, so there are no masks:
//     what may not be seen has no edge.
//   - A query without keys gets zero.
package attention
