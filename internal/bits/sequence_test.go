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
	for _, at := range places {
		for _, hidden := range []int{5, 32} {
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
	b.run("LSTMGates", func(m *maker) []*grad.Var {
		h, c := sequence.LSTMGates(m.watch(300, 40), m.watch(300, 10), nil, false)
		return []*grad.Var{h, c}
	})
	b.run("GRUGates", func(m *maker) []*grad.Var {
		return one(sequence.GRUGates(m.watch(300, 30), m.watch(300, 30), m.watch(300, 10), m.use(10)))
	})
	sweeps(b)
}
