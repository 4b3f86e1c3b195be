package memories

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// How memories of facts are learnt and tried.
const (
	factBatch   = 32
	factSteps   = 10 // hundreds
	mostLearnt  = 16 // facts in a memory that is learnt from
	shownInTree = 16
)

// factSizes are how many facts memories have that are tried.
var factSizes = []int{16, 64, 256}

// factAnswers are logits of a network for the questions of some facts.
type factAnswers func(t *grad.Tape, f *facts) *grad.Var

// showFacts trains a memory that is a set or a tree, and an LSTM without one, to say the value of a key.
func showFacts(s *stage.Stage, tree bool) error {
	name, how := "set", "compares the key with all of them at once, whatever their order"
	if tree {
		name, how = "tree", "begins at the root of a tree, whose branches part the keys by the first bit that they do not share, and takes one of two branches after the other; the key of a branch is the mean of those beneath it"
	}
	s.Say("A memory has up to %d facts, a key of %d bits and a value of %d each, and is asked for the value of a key. It %s. An LSTM of 64 units hears one fact after the other, and then the key. Both are then asked for facts of more than they learnt from.", mostLearnt, keyBits, valueBits, how)
	net := newFactReader(s.RNG("weights"))
	alone := &plainLSTM{&sequence.LSTM{In: 1 + keyBits + valueBits, Hidden: 64}, &layers.Linear{In: 64, Out: valueBits}}
	alone.LSTM.Init(s.RNG("LSTM"))
	alone.Answer.Init(s.RNG("its answers"))
	exact, found, looked := map[string]map[string]float64{}, map[string]float64{}, map[string]float64{}
	var loops []*stage.Training
	for _, m := range []struct {
		name   string
		answer factAnswers
	}{
		{name, func(t *grad.Tape, f *facts) *grad.Var { y, _ := net.read(t, f); return y }},
		{"LSTM alone", func(t *grad.Tape, f *facts) *grad.Var {
			return alone.Forward(t, f.asChains, t.Input(f.heard.X)).Rows(f.heard.At)
		}},
	} {
		s.Print("%s\n", m.name)
		loop := onFacts(s, tree, m.name, m.answer)
		loop.Optimiser = &train.Adam{LR: 1e-2}
		if m.name != name {
			loop.Optimiser = &train.Adam{LR: 3e-3}
		}
		loops = append(loops, loop)
		if err := loop.Run(); err != nil {
			return err
		}
		exact[m.name] = map[string]float64{}
		for _, size := range factSizes {
			f := factsIn(tree, s.Count(500), size, size, s.Stream("test", uint64(size)))
			e := f.exact(m.answer(grad.NewEval(), f).Value())
			exact[m.name][fmt.Sprint(size)] = e
			s.Print("of %3d facts %5.1f %% wholly right", size, 100*e)
			if m.name == name {
				found[fmt.Sprint(size)], looked[fmt.Sprint(size)] = net.descend(f)
				s.Print("; one path, always to the nearest: %5.1f %% right, with %.1f keys looked at", 100*found[fmt.Sprint(size)], looked[fmt.Sprint(size)])
			}
			s.Print("\n")
		}
	}
	s.Result(map[string]any{"exact": exact, "one_path": found, "looked": looked})
	shown := askedAll(tree, shownInTree, s.Stream("shown", 0))
	_, reached := net.read(nil, shown)
	heat := &picture.Heat{Title: "which fact each question reads, both by key", Across: "facts", Down: "questions", Top: 1}
	for i := range shownInTree {
		var row []float64
		for _, v := range shown.leaves(i) {
			row = append(row, float64(reached.Value().Data[v]))
		}
		heat.Values = append(heat.Values, row)
	}
	s.Print("\n")
	s.Heat(heat)
	s.Draw([]picture.Panel{heat}, []picture.Panel{stage.LossPanel(loops...)})
	return s.Keep(net)
}

// onFacts trains a network on memories that are new at every step.
func onFacts(s *stage.Stage, tree bool, name string, answer factAnswers) *stage.Training {
	test := factsIn(tree, s.Count(200), mostLearnt, mostLearnt, s.Stream("scored", 0))
	return &stage.Training{
		Stage: s, Name: name, Clip: 10, Epochs: s.EpochsOr(factSteps), Every: 5,
		Loss: func(t *grad.Tape, _ []int32) *grad.Var {
			f := factsIn(tree, factBatch, 2, mostLearnt, s.Stream("steps", t.Step()))
			return answer(t, f).BCE(grad.Const(f.heard.Answer))
		},
		Score: func() (float64, error) { return test.exact(answer(grad.NewEval(), test).Value()), nil }, ScoreName: "exact",
	}
}

// askedAll are so many memories of the same facts, of which each is asked for another, in the order of the keys.
func askedAll(tree bool, size int, seed uint64) *facts {
	one := factsIn(tree, 1, size, size, seed)
	order := one.leaves(0)
	many := &facts{keys: tensor.New(0, keyBits), values: tensor.New(0, valueBits), asked: tensor.New(size, keyBits)}
	for i, v := range order {
		many.parents = append(many.parents, one.parents[0])
		many.keys.Data, many.values.Data = append(many.keys.Data, one.keys.Data...), append(many.values.Data, one.values.Data...)
		copy(many.asked.Row(i), one.keys.Row(int(v)))
	}
	nodes := size * one.keys.Rows()
	many.keys, many.values = tensor.Of(many.keys.Data, nodes, keyBits), tensor.Of(many.values.Data, nodes, valueBits)
	many.graph = graph.Must(graph.Trees(many.parents...))
	return many
}

// leaves are those of a memory, in the order of their keys.
func (f *facts) leaves(i int) (out []int32) {
	first := int32(0)
	for _, p := range f.parents[:i] {
		first += int32(len(p))
	}
	for v := range int32(len(f.parents[i])) {
		if !slices.Contains(f.parents[i], v) {
			out = append(out, first+v)
		}
	}
	slices.SortFunc(out, func(a, b int32) int { return slices.Compare(f.keys.Row(int(a)), f.keys.Row(int(b))) })
	return out
}
