// Package memory holds networks with a memory: slots that are read by attention, tapes and
// stacks that are written, and patterns that a network falls back into.
//
// A memory is a bipartite graph from its slots to who reads them. A [Hopfield] network is a
// complete graph with a weight on each edge, whose units listen until nothing changes:
//
//	h, err := memory.Store(memory.Hebb, patterns) // a row of +1 and −1 each
//	…
//	found, err := h.Recall(cues, memory.Recall{})
//	letters := found.States
//
// A [MemN2N] answers questions about stories: each sentence is a slot, and it reads all slots
// several times. Stories come in numbers, and a batch has no padding:
//
//	s, err := net.Batch(stories, nil)
//	…
//	y := net.Forward(t, s) // a row of logits for each question
//	loss := s.Loss(y)
//
// A [KeyValue] memory finds its slots by one thing and reads another; [FastWeights] are a
// recurrent network whose past is a memory.
//
// A [BAM] is a [Hopfield] network between two layers, and a [Modern] one is attention itself: a cue
// asks, the patterns are keys and values.
//
// A neural Turing machine, [NTM], writes and reads a tape through heads; a [StackMachine] pushes
// to a [StackMemory], or a queue, and pops from it; a [TreeMemory] is read from its root. A
// sentence of theirs is a chain, with a memory of its own, and a batch is chains of any lengths.
package memory
