package bits

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// sprout makes random expressions on a graph.
type sprout struct {
	*maker
	g    *graph.Graph
	pool []message.Msg // made before: an expression may be used several times
}

func (s *sprout) leaf() message.Msg {
	shapes := [][]int{{3}, {1}, {2, 3}, {2, 1}, {1, 3}}
	shape := shapes[s.IntN(len(shapes))]
	rows := func(n int) *grad.Var { return s.watch(append([]int{n}, shape...)...) }
	switch s.IntN(7) {
	case 0, 1:
		return message.U(rows(s.g.NumSrc()))
	case 2, 3:
		return message.V(rows(s.g.NumDst()))
	case 4:
		return message.E(rows(s.g.NumEdges()))
	case 5:
		return message.W(rows(4)).Pick(s.rows(s.g.NumEdges(), 4))
	}
	return message.U(s.watch(s.g.NumSrc(), 2, 2, 3)).Pick(s.rows(s.g.NumEdges(), 2))
}

// tree returns a random expression of bounded values.
func (s *sprout) tree(depth int) (m message.Msg) {
	if depth == 0 || s.IntN(8) == 0 {
		return s.leaf()
	}
	if len(s.pool) > 0 && s.IntN(6) == 0 {
		return s.pool[s.IntN(len(s.pool))]
	}
	defer func() { s.pool = append(s.pool, m) }()
	a := s.tree(depth - 1)
	switch k := s.IntN(30); {
	case k < 8:
		return s.pair(k, a, s.tree(depth-1))
	case k < 20:
		return s.pointwise(k, a)
	default:
		return s.across(k, a)
	}
}

func (s *sprout) pair(k int, a, b message.Msg) message.Msg {
	switch k {
	case 0:
		return a.Add(b)
	case 1:
		return a.Sub(b)
	case 2, 3:
		return a.Tanh().Mul(b.Tanh())
	case 4:
		return a.Div(b.Abs().Shift(1))
	case 5:
		return a.Min(b)
	case 6:
		return a.Max(b)
	}
	return a.Tanh().Add(message.W(s.watch(3))).Dot(b.Tanh().Add(message.W(s.use(3))))
}

func (s *sprout) pointwise(k int, a message.Msg) message.Msg {
	switch k {
	case 8:
		return a.Scale(-1.5)
	case 9:
		return a.Shift(0.25).Neg()
	case 10:
		return a.LeakyReLU(0.2)
	case 11:
		return a.ReLU()
	case 12:
		return a.ELU()
	case 13:
		return a.Sigmoid()
	case 14:
		return a.Softplus()
	case 15:
		return a.Tanh().Exp()
	case 16:
		return a.Abs().Shift(0.5).Log()
	case 17:
		return a.Abs().Shift(0.5).Sqrt()
	case 18:
		return a.Dropout(s.tape, 0.4)
	}
	return a.Mul(s.leaf().Sign())
}

func (s *sprout) across(k int, a message.Msg) message.Msg {
	switch k {
	case 20:
		return a.SumLast()
	case 21:
		return a.MaxLast()
	case 22:
		return a.LogSumExpLast()
	case 23, 24:
		return a.Softmax()
	case 25:
		return a.LogSoftmax()
	case 26:
		return a.Abs().Shift(0.5).Normalise()
	case 27:
		return s.leaf().TopK(2).Softmax().Mul(a)
	case 28:
		return a.Tanh().Add(message.W(s.watch(3))).Dot(message.W(s.watch(1, 3)))
	}
	return a.Tanh().Add(message.W(s.use(3))).MatMul(s.use(3, 3))
}

// expressions runs random expressions with every reducer, with several at once, and
// on the edges: many on tiny graphs and some where there is a hub.
func expressions(b *book) {
	for i := range 140 {
		reduced := append([]message.Reducer{}, firstReducers[i%6])
		if i%5 == 0 {
			reduced = firstReducers
		}
		b.run(fmt.Sprintf("tiny/%03d", i), func(m *maker) []*grad.Var {
			s := &sprout{maker: m, g: m.tiny()}
			e := s.tree(5)
			ys := []*grad.Var{message.ApplyEdges(s.g, e), message.UpdateAll(s.g, e, reduced...)}
			for _, r := range firstReducers {
				ys = append(ys, message.UpdateAll(s.g, e, r))
			}
			return ys
		})
	}
	for i := range 40 {
		g := hub()
		if i%4 == 0 {
			g = block()
		}
		for k, r := range []message.Reducer{message.Sum, firstReducers[1+i%5]} {
			if !turn(2, i/4, k) {
				continue
			}
			b.run(fmt.Sprintf("hub/%03d/%v", i, r), func(m *maker) []*grad.Var {
				s := &sprout{maker: m, g: g}
				return one(message.UpdateAll(g, s.tree(4), r))
			})
		}
	}
	for _, r := range everyReducer[len(firstReducers):] {
		for i := range 10 {
			b.run(fmt.Sprintf("tiny/%03d/%v", i, r), func(m *maker) []*grad.Var {
				s := &sprout{maker: m, g: m.tiny()}
				e := s.tree(5)
				return []*grad.Var{message.UpdateAll(s.g, e, r), message.UpdateAll(s.g, e, message.Mean, r, message.Max)}
			})
		}
	}
	laterOperations(b)
}

// drawnOperations are the operations that other entries say, of those that take no more than a message and a number.
const drawnOperations = " Abs Add Cos Div Dot ELU Exp GELU Hardmax LeakyReLU Log LogSoftmax LogSumExpLast Max MaxLast Min Mul Neg Normalise " +
	"Pow ReLU Scale Shift SiLU Sigmoid Sign Sin Softmax Softplus Sparsemax Sqrt Sub SumLast Tanh TopK "

// laterOperations runs the operations that came after the table was recorded first, by name: of numbers between 0
// and 1, with such numbers, or with 2.
func laterOperations(b *book) {
	msg := reflect.TypeFor[message.Msg]()
	for i := range msg.NumMethod() {
		m := msg.Method(i)
		if m.Type.NumOut() != 1 || m.Type.Out(0) != msg || strings.Contains(drawnOperations, " "+m.Name+" ") {
			continue
		}
		var with func(a, o message.Msg) []reflect.Value
		switch in := m.Type.In(m.Type.NumIn() - 1); {
		case m.Type.NumIn() == 1:
			with = func(a, _ message.Msg) []reflect.Value { return []reflect.Value{reflect.ValueOf(a)} }
		case m.Type.NumIn() == 2 && in == msg:
			with = func(a, o message.Msg) []reflect.Value { return []reflect.Value{reflect.ValueOf(a), reflect.ValueOf(o)} }
		case m.Type.NumIn() == 2 && in.ConvertibleTo(reflect.TypeFor[float64]()):
			with = func(a, _ message.Msg) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(a), reflect.ValueOf(2).Convert(in)}
			}
		default:
			continue // takes what only an entry of its own can say
		}
		for _, r := range firstReducers {
			b.reduce(fmt.Sprintf("%s/hub/%v", m.Name, r), hub(), [2]int{2, 8}, formula{m.Name, func(o *operands) message.Msg {
				return m.Func.Call(with(message.UAddV(o.u, o.v).Sigmoid(), message.E(o.e).Sigmoid()))[0].Interface().(message.Msg)
			}}, r)
		}
	}
}
