package convert_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// Each layer of torch.nn computes here what it computes there, and its weights go back.
// check_written.py has loaded the file in PyTorch 2.15: all keys matched, and what the modules
// computed was what they had before to 3e-08, that of a GRU, whose two biases are one here.
func TestWrittenTorch(t *testing.T) {
	s := newStage(t, convert.PyTorch, "torch.pt")
	all := s.torchRows()
	for _, more := range []map[string]module{s.torchSequences(), s.torchTransformers(), s.torchModels()} {
		for name, m := range more {
			all[name] = m
		}
	}
	s.written(s.check(all), "written_torch.safetensors")
}

func (s *stage) torchRows() map[string]module {
	x, g := s.input("x"), graph.Chains(5)
	linear, mlp := initialised(&layers.Linear{In: 4, Out: 3}), initialised(&layers.MLP{Widths: []int{4, 6, 3}, BatchNorm: true, Drop: 0.5})
	norm, batch := initialised(&layers.LayerNorm{Width: 4}), initialised(&layers.BatchNorm{Width: 4})
	table := grad.NewParam(7, 3)
	conv := initialised(&sequence.Conv1D{In: 4, Out: 3, Kernel: 3})
	return map[string]module{
		"linear":    {linear, func() *grad.Var { return linear.Forward(s.tape, x) }},
		"mlp":       {mlp, func() *grad.Var { return mlp.Forward(s.tape, x) }},
		"layernorm": {norm, func() *grad.Var { return norm.Forward(s.tape, x) }},
		"batchnorm": {batch, func() *grad.Var { return batch.Forward(s.tape, x) }},
		"embedding": {convert.Modules{"weight": table}, func() *grad.Var { return s.tape.Use(table).Embedding([]int32{3, 0, 6}, grad.NoLabel) }},
		"conv1d":    {conv, func() *grad.Var { return conv.Forward(s.tape, g, x) }},
	}
}

func (s *stage) torchSequences() map[string]module {
	x, chain := s.input("x"), graph.Chains(5)
	rnn := initialised(&sequence.RNN{In: 4, Hidden: 3, Activation: grad.ReLU})
	bare := initialised(&sequence.GRU{In: 4, Hidden: 3, NoBias: true})
	cell := initialised(&sequence.LSTM{In: 4, Hidden: 3})
	lstm := func(in int) sequence.Cell { return &sequence.LSTM{In: in, Hidden: 3} }
	gru := func(in int) sequence.Cell { return &sequence.GRU{In: in, Hidden: 3} }
	lstms := initialised(&sequence.Stack{Layers: []sequence.Cell{lstm(4), lstm(6)}, Back: []sequence.Cell{lstm(4), lstm(6)}})
	grus := initialised(&sequence.Stack{Layers: []sequence.Cell{gru(4), gru(6)}, Back: []sequence.Cell{gru(4), gru(6)}})
	return map[string]module{
		"rnn":      {rnn, func() *grad.Var { return rnn.ForwardFrom(s.tape, chain, x, nil)[0] }},
		"gru_bare": {bare, func() *grad.Var { return bare.ForwardFrom(s.tape, chain, x, nil)[0] }},
		"lstmcell": {cell, func() *grad.Var { return cell.Step(s.tape, x, nil)[0] }},
		"lstm":     {lstms, func() *grad.Var { return lstms.Forward(s.tape, chain, x) }},
		"gru":      {grus, func() *grad.Var { return grus.Forward(s.tape, chain, x) }},
	}
}

func (s *stage) torchTransformers() map[string]module {
	x, memory, dst := s.input("x"), s.input("memory"), s.input("dst")
	self, cross := graph.Complete(5), graph.CompleteBipartite(3, 5)
	shape := attention.Block{Model: 4, Heads: 2, Hidden: 8}
	gelu := shape
	gelu.PreNorm, gelu.Activation = true, grad.GELU
	heads, wide := initialised(&attention.MultiHead{Model: 4, Heads: 2}), initialised(&attention.MultiHead{Model: 4, Heads: 2, Key: 3, Value: 3, NoBias: true})
	apply := func(l *attention.MultiHead, in attention.QKV) *grad.Var {
		y, _ := l.Apply(s.tape, self, in)
		return y
	}
	one, more := initialised(&attention.EncoderBlock{Block: shape}), initialised(&attention.Encoder{Block: gelu, Depth: 2})
	last, decoder := initialised(&attention.DecoderBlock{Block: shape}), initialised(&attention.Decoder{Block: shape, Depth: 2})
	return map[string]module{
		"mha":          {heads, func() *grad.Var { return apply(heads, attention.QKV{Query: x}) }},
		"mha_wide":     {wide, func() *grad.Var { return apply(wide, attention.QKV{Query: x, Key: dst, Value: dst}) }},
		"encoderlayer": {one, func() *grad.Var { return one.Forward(s.tape, self, x) }},
		"encoder":      {more, func() *grad.Var { return more.Forward(s.tape, self, x) }},
		"decoderlayer": {last, func() *grad.Var { return last.Forward(s.tape, self, cross, x, memory) }},
		"decoder":      {decoder, func() *grad.Var { return decoder.Forward(s.tape, self, cross, x, memory) }},
	}
}

// torchModels are whole models, whose output is tied to the table of words.
func (s *stage) torchModels() map[string]module {
	shape := attention.Block{Model: 4, Heads: 2, Hidden: 8}
	pre := attention.Block{Model: 4, Heads: 2, Hidden: 8, PreNorm: true, Activation: grad.GELU, Position: attention.Learned, Longest: 5}
	pairs := initialised(&attention.Transformer{Block: shape, Source: 7, Target: 6, Encoders: 1, Decoders: 1})
	language := initialised(&attention.LanguageModel{Block: pre, Tokens: 7, Depth: 2})
	return map[string]module{
		"translator": {convert.Modules{"src.weight": pairs.SourceWords, "tgt.weight": pairs.Words, "out.weight": pairs.Words,
			"transformer": convert.Modules{"encoder": pairs.Encoder, "decoder": pairs.Decoder}}, func() *grad.Var {
			return pairs.Forward(s.tape, attention.Pairs([]int{4}, []int{3}), []int32{3, 1, 5, 2}, []int32{0, 4, 2})
		}},
		"languagemodel": {convert.Modules{"wte.weight": language.Words, "wpe.weight": language.Places, "lm_head.weight": language.Words, "blocks": language.Encoder},
			func() *grad.Var { return language.Forward(s.tape, graph.Causal(4), []int32{0, 3, 5, 1}) }},
	}
}
