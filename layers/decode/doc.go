// Package decode finds likely sequences under a model, a token at a time: greedy,
// sampled, or by beam search.
//
// A [Step] is the model: it is given the last token of every hypothesis and what
// the model carries, and returns a logit for each next token. A [Search] says
// where each sentence begins and ends. [Greedy], [Sample] and [Beam] say which
// tokens are taken:
//
//	s := &decode.Search{Step: step, Begin: []int32{bos, bos}, State: state, End: eos, Longest: []int{50}}
//	found, err := decode.Beam{Width: 5, Norm: decode.GNMT, Alpha: 0.6}.Run(s)
//	best := found[0][0].Tokens // of the first sentence
//
// Of a recurrent network it is the layer's Step:
//
//	step := func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
//		next := lstm.Step(t, t.Use(words).Rows(l.Last), l.State)
//		return next[0].MatMul(t.Use(out)), next
//	}
//
// These rules hold for all three:
//
//   - The hypotheses of all sentences are one batch. One that has ended leaves it.
//   - A sentence comes out alike alone and in a batch, to the bit, if the step's rows
//     do not depend on each other.
//   - A log-probability is a float64: the sum of x − log Σ exp(x) over the tokens
//     taken, End too. Where tokens are forbidden, the sum runs over the others.
//   - A logit of −Inf forbids its token. Of equal logits the lower token comes first.
//   - A sentence that reaches its longest length stops there, with Ended false.
//   - A logit that is NaN or +Inf, and a sentence all of whose hypotheses may take no
//     token, end the search with a [*StepError].
//
// A step runs on an eval tape whose memory is used again: two tapes take turns,
// so that the state that one step left is there for the next. What is held does
// not grow with the length, but for the tokens themselves. A search is inference:
// it has no gradient.
package decode
