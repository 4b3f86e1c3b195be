package bits

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
)

// recurrent is a layer that sweeps over a graph.
type recurrent interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// cells makes a layer of every kind and form.
func cells(in, hidden int) map[string]recurrent {
	return map[string]recurrent{
		"rnn":          &sequence.RNN{In: in, Hidden: hidden},
		"rnn/relu":     &sequence.RNN{In: in, Hidden: hidden, Activation: grad.ReLU, NoBias: true},
		"rnn/silu":     &sequence.RNN{In: in, Hidden: hidden, Activation: grad.SiLU},
		"gru":          &sequence.GRU{In: in, Hidden: hidden},
		"gru/before":   &sequence.GRU{In: in, Hidden: hidden, ResetBefore: true},
		"gru/plain":    &sequence.GRU{In: in, Hidden: hidden, NoBias: true},
		"lstm":         &sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1},
		"lstm/plain":   &sequence.LSTM{In: in, Hidden: hidden, NoBias: true},
		"lstm/peep":    &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.DiagonalPeephole},
		"lstm/old":     &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.DiagonalPeephole, PeepOld: true},
		"lstm/full":    &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.FullPeephole},
		"lstm/fullold": &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.FullPeephole, PeepOld: true},
		"stack": &sequence.Stack{Dropout: 0.3, Layers: []sequence.Cell{
			&sequence.LSTM{In: in, Hidden: hidden}, &sequence.GRU{In: hidden, Hidden: hidden},
		}},
		"stack/both": &sequence.Stack{Dropout: 0.3,
			Layers: []sequence.Cell{&sequence.GRU{In: in, Hidden: hidden}, &sequence.RNN{In: 2 * hidden, Hidden: hidden}},
			Back:   []sequence.Cell{&sequence.LSTM{In: in, Hidden: hidden}, &sequence.RNN{In: 2 * hidden, Hidden: hidden}},
		},
		"tree": &sequence.TreeLSTM{In: in, Hidden: hidden, ForgetBias: 1},
	}
}

// ragged are chains of 1 to 12 nodes.
func ragged(n int) *graph.Graph {
	var lengths []int
	for i := range n {
		lengths = append(lengths, 1+i*7%12)
	}
	return graph.Chains(lengths...)
}

// trees are random trees, with nodes of many children.
func trees() *graph.Graph {
	rng := rand.New(rand.NewPCG(5, 1))
	var parents [][]int32
	for k := range 6 {
		p := make([]int32, 10+5*k)
		p[0] = -1
		for i := 1; i < len(p); i++ {
			p[i] = rng.Int32N(int32(i))
		}
		parents = append(parents, p)
	}
	return graph.Must(graph.Trees(parents...))
}

// sequences runs every recurrent layer over chains and trees.
func sequences(b *book) {
	places := []place{{"ragged", ragged(9)}, {"batch", ragged(200)}, {"trees", trees()}}
	for i, at := range places {
		for j, hidden := range []int{5, 32} {
			if !turn(2, i, j) {
				continue
			}
			for name, l := range cells(6, hidden) {
				b.run(fmt.Sprintf("%s/%d/%s", name, hidden, at.name), func(m *maker) []*grad.Var {
					m.model(l)
					return one(l.Forward(m.tape, at.g, m.watch(at.g.NumNodes(), 6)))
				})
			}
		}
	}
	for name, l := range cells(40, 8) {
		b.run(name+"/sparse", func(m *maker) []*grad.Var {
			m.model(l)
			return one(l.Forward(m.tape, places[0].g, m.sparse(places[0].g.NumNodes(), 40)))
		})
	}
	for name, l := range map[string]sequence.Cell{
		"lstm": &sequence.LSTM{In: 6, Hidden: 5}, "gru": &sequence.GRU{In: 6, Hidden: 5}, "rnn": &sequence.RNN{In: 6, Hidden: 5},
	} {
		b.run(name+"/from", func(m *maker) []*grad.Var {
			g := places[0].g
			m.model(l)
			half := l.ForwardFrom(m.tape, g, m.watch(g.NumNodes(), 6), nil)
			return l.ForwardFrom(m.tape, g, m.watch(g.NumNodes(), 6), half.Rows(g.Sinks()))
		})
	}
	forms(b)
	b.run("LSTMGates", func(m *maker) []*grad.Var {
		h, c := sequence.LSTMGates(m.watch(300, 40), m.watch(300, 10), nil, false)
		return []*grad.Var{h, c}
	})
	b.run("GRUGates", func(m *maker) []*grad.Var {
		return one(sequence.GRUGates(m.watch(300, 30), m.watch(300, 30), m.watch(300, 10), m.use(10)))
	})
	sweeps(b)
}

// formsOf makes the forms of cells that not every place runs.
func formsOf(in, hidden int) map[string]recurrent {
	lstm := func(f sequence.Forget, p sequence.Peephole, norm bool) *sequence.LSTM {
		return &sequence.LSTM{In: in, Hidden: hidden, Forget: f, Peephole: p, LayerNorm: norm, PeepOld: norm}
	}
	return map[string]recurrent{
		"rnn/leak":          &sequence.RNN{In: in, Hidden: hidden, Leak: 0.3},
		"rnn/learnt":        &sequence.RNN{In: in, Hidden: hidden, LearnLeak: true, LayerNorm: true},
		"rnn/residual":      &sequence.RNN{In: in, Hidden: hidden, Residual: true},
		"gru/admits":        &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true, KeepBias: 1},
		"gru/admits/before": &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true, ResetBefore: true},
		"gru/minimal":       &sequence.GRU{In: in, Hidden: hidden, Minimal: true},
		"gru/minimal/norm":  &sequence.GRU{In: in, Hidden: hidden, Minimal: true, LayerNorm: true},
		"gru/norm":          &sequence.GRU{In: in, Hidden: hidden, LayerNorm: true},
		"gru/norm/before":   &sequence.GRU{In: in, Hidden: hidden, LayerNorm: true, ResetBefore: true},
		"gru/dropout":       &sequence.GRU{In: in, Hidden: hidden, InputDropout: 0.3, StateDropout: 0.4},
		"lstm/none":         lstm(sequence.NoForget, "", false),
		"lstm/none/peep":    lstm(sequence.NoForget, sequence.DiagonalPeephole, false),
		"lstm/coupled":      lstm(sequence.CoupledForget, "", false),
		"lstm/coupled/peep": lstm(sequence.CoupledForget, sequence.DiagonalPeephole, false),
		"lstm/coupled/full": lstm(sequence.CoupledForget, sequence.FullPeephole, false),
		"lstm/norm":         lstm("", "", true),
		"lstm/norm/peep":    lstm("", sequence.DiagonalPeephole, true),
		"lstm/chrono":       &sequence.LSTM{In: in, Hidden: hidden, Chrono: 20, InputDropout: 0.3, StateDropout: 0.4},
		"tree/nary":         &sequence.TreeLSTM{In: in, Hidden: hidden, Arity: 40},
		"tree/nary/own":     &sequence.TreeLSTM{In: in, Hidden: hidden, Arity: 40, OwnChild: true},
		"recursive":         &sequence.Recursive{In: in, Hidden: hidden, Arity: 40},
		"recursive/words":   &sequence.Recursive{In: in, Hidden: in, Arity: 40, Words: true},
	}
}

// forms runs the variants of recurrent layers, and convolutions over chains.
func forms(b *book) {
	for _, at := range []place{{"ragged", ragged(9)}, {"trees", trees()}} {
		for name, l := range formsOf(6, 12) {
			b.run(fmt.Sprintf("%s/12/%s", name, at.name), func(m *maker) []*grad.Var {
				m.model(l)
				return one(l.Forward(m.tape, at.g, m.watch(at.g.NumNodes(), 6)))
			})
		}
	}
	g := ragged(9)
	for name, l := range map[string]recurrent{
		"conv":        &sequence.Conv1D{In: 6, Out: 8, Kernel: 3},
		"conv/causal": &sequence.Conv1D{In: 6, Out: 8, Kernel: 4, Dilation: 2, Causal: true},
		"tcn":         &sequence.TCN{In: 6, Widths: []int{8, 8}, Dropout: 0.2},
	} {
		b.run(name, func(m *maker) []*grad.Var {
			m.model(l)
			return one(l.Forward(m.tape, g, m.watch(g.NumNodes(), 6)))
		})
	}
	b.run("highway", func(m *maker) []*grad.Var {
		l := &sequence.Highway{Width: 6}
		m.model(l)
		return one(l.Forward(m.tape, m.watch(20, 6)))
	})
	b.run("steps", func(m *maker) []*grad.Var {
		l := &sequence.LSTM{In: 6, Hidden: 5}
		m.model(l)
		first := l.Step(m.tape, m.watch(4, 6), nil)
		return l.Step(m.tape, m.watch(4, 6), first)
	})
}
