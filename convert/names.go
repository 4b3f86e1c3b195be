package convert

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// names binds the arrays of one layer, whose names begin with prefix.
type names struct {
	*binding
	prefix string
	err    error
}

// has reports whether the state dict that is read has an array of that name.
func (n *names) has(key string) bool { _, ok := n.state[n.prefix+key]; return ok }

// in returns the names of a part.
func (n *names) in(name string, bind func(part *names)) {
	part := &names{binding: n.binding, prefix: dotted(n.prefix + name)}
	bind(part)
	if n.err == nil {
		n.err = part.err
	}
}

// refuse reports what the framework's layer does not compute.
func (n *names) refuse(is bool, what string) {
	if is && n.err == nil {
		n.err = fmt.Errorf("%s's has no %s", n.framework, what)
	}
}

// inited reports whether a layer has the Param that its Init makes, and else that it does not.
func (n *names) inited(p *grad.Param) bool {
	if p == nil && n.err == nil {
		n.err = fmt.Errorf("it has no Params; was its Init called?")
	}
	return p != nil
}

func (n *names) add(f field) {
	f.key = n.prefix + f.key
	n.fields = append(n.fields, f)
}

// same binds a Param, if there is one, that stands there in the same order; its shape there
// is that of the Param unless it is given.
func (n *names) same(key string, p *grad.Param, shape ...int) {
	if p == nil {
		return
	}
	if len(shape) == 0 {
		shape = p.Value.Shape()
	}
	n.add(whole(key, p, shape...))
}

// matrix binds a Param, if there is one, that stands there as its transpose, out×in.
func (n *names) matrix(key string, p *grad.Param) {
	if p != nil {
		in, out := p.Value.Dim(0), p.Value.Dim(-1)
		n.add(field{key: key, shape: []int{out, in}, places: []place{turned(p, 0, in, 0, in)}})
	}
}

// vector binds a Param, if there is one, as an array of one axis.
func (n *names) vector(key string, p *grad.Param) {
	if p != nil {
		n.same(key, p, len(p.Value.Data))
	}
}

// maps binds matrices of one shape that are one there, transposed and one below the other.
func (n *names) maps(key string, all ...*grad.Param) {
	in, out := all[0].Value.Dim(0), all[0].Value.Dim(1)
	f := field{key: key, shape: []int{len(all) * out, in}}
	for i, p := range all {
		f.places = append(f.places, turned(p, 0, in, i*in*out, in))
	}
	n.add(f)
}

// vectors binds vectors of one length that are one there; nothing if there are none.
func (n *names) vectors(key string, all ...*grad.Param) {
	if all[0] == nil {
		return
	}
	m := len(all[0].Value.Data)
	f := field{key: key, shape: []int{len(all) * m}}
	for i, p := range all {
		f.places = append(f.places, flat(p, 0, m, i*m))
	}
	n.add(f)
}

// linear binds a torch.nn.Linear.
func (n *names) linear(name string, w, b *grad.Param) {
	n.matrix(name+".weight", w)
	n.vector(name+".bias", b)
}

// unread binds an array that this library has no use for: zeros where it is written.
func (n *names) unread(key string, shape ...int) {
	n.add(field{key: key, shape: shape, any: shape == nil})
}

// sign binds an array of one number of which only the sign counts, and returns whether it is
// negative: one where it is written.
func (n *names) sign(key string) (negative bool) {
	n.add(field{key: key, shape: []int{1, 1}, fill: 1})
	a := n.state[n.prefix+key].Data
	return len(a) == 1 && a[0] < 0
}

// number binds a number among the fields of a layer.
func (n *names) number(key string, to *float64) { n.add(field{key: key, shape: []int{1}, number: to}) }

// epsilon binds the ε of a GIN, which is a buffer where it is not trained.
func (n *names) epsilon(p *grad.Param, to *float64) {
	if p != nil {
		n.same("eps", p)
		return
	}
	n.number("eps", to)
}

// layer binds any layer, and reports whether the framework has one like it.
func (n *names) layer(l any) bool {
	if n.torch(l) {
		return true
	}
	switch n.framework {
	case PyG:
		return n.pygAttention(l) || n.pygConv(l) || n.pygEdges(l) || n.pygRelational(l) || n.pygPooling(l) || n.pygKnowledge(l) || n.pygLinks(l)
	case DGL:
		return n.dglConv(l) || n.dglEdges(l) || n.dglRelational(l) || n.pooling(l) || n.dglLinks(l)
	}
	return false
}

// net binds an MLP: a torch.nn.Sequential of Linear, perhaps BatchNorm1d, an activation and
// perhaps Dropout; a single Linear; or PyG's MLP.
func (n *names) net(name string, l *layers.MLP) {
	if len(l.Layers) == 0 {
		n.inited(nil)
		return
	}
	n.in(name, func(n *names) {
		step := 2
		if l.BatchNorm {
			step++
		}
		if l.Drop > 0 {
			step++
		}
		linear, norm := func(i int) string { return fmt.Sprint(i * step) }, func(i int) string { return fmt.Sprint(i*step + 1) }
		if n.has("lins.0.weight") {
			linear, norm = func(i int) string { return fmt.Sprint("lins.", i) }, func(i int) string { return fmt.Sprintf("norms.%d.module", i) }
		}
		for i, part := range l.Layers {
			if len(l.Layers) == 1 && !n.has("0.weight") && !n.has("lins.0.weight") {
				n.matrix("weight", part.W)
				n.vector("bias", part.B)
				return
			}
			n.linear(linear(i), part.W, part.B)
			if l.BatchNorm && i < len(l.Norms) {
				n.in(norm(i), func(n *names) { n.batchNorm(l.Norms[i]) })
			}
		}
	})
}

// field is an array of a state dict: what it is of a layer.
type field struct {
	key      string
	shape    []int
	places   []place      // none: it is read by nobody, and zeros where it is written
	number   *float64     // a number among the layer's fields, for an array of one element
	fill     tensor.Float // what stands where it is written, unless something else does
	optional bool         // it may be missing, and is not written
	any      bool         // it may have any shape
}

// place is a part of an array of a state dict that is a part of a Param: a view of both
// of one shape.
type place struct {
	param *grad.Param
	shape []int
	here  view                              // in the Param
	there view                              // in the array
	extra bool                              // it is added to what others give; where it is written it is zeros
	turn  func(v tensor.Float) tensor.Float // from there to here; nil: the same
	back  func(v tensor.Float) tensor.Float
}

// view is where the elements are.
type view struct {
	offset  int
	strides []int
}

// each calls f with the places of each element in the Param and in the array.
func (p *place) each(f func(here, there int)) {
	here, there := newWalk(p.shape, p.here.offset, p.here.strides), newWalk(p.shape, p.there.offset, p.there.strides)
	for range size(p.shape) {
		f(here.next(), there.next())
	}
}

func (p *place) from(v tensor.Float) tensor.Float { return apply(p.turn, v) }
func (p *place) to(v tensor.Float) tensor.Float   { return apply(p.back, v) }

func apply(f func(v tensor.Float) tensor.Float, v tensor.Float) tensor.Float {
	if f == nil {
		return v
	}
	return f(v)
}

// whole is an array that is a Param, in the same order.
func whole(key string, p *grad.Param, shape ...int) field {
	return field{key: key, shape: shape, places: []place{flat(p, 0, size(shape), 0)}}
}

// flat is n elements of a Param from offset on, in the same order there from element at.
func flat(p *grad.Param, offset, n, at int) place {
	return place{param: p, shape: []int{n}, here: view{offset, []int{1}}, there: view{at, []int{1}}}
}

// turned is rows lo up to hi of a matrix, in×out, that stands there as its transpose,
// from element at on; its rows are width elements apart there.
func turned(p *grad.Param, lo, hi, at, width int) place {
	out := p.Value.Dim(-1)
	return place{param: p, shape: []int{out, hi - lo}, here: view{lo * out, []int{1, out}}, there: view{at, []int{width, 1}}}
}

// added is p, of which the values are added to those of others.
func added(p place) place {
	p.extra = true
	return p
}

// negated is p with the other sign.
func negated(p place) place {
	p.turn = func(v tensor.Float) tensor.Float { return -v }
	p.back = p.turn
	return p
}

// size returns the elements of a shape, of which a scalar has none.
func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// sameShape reports whether shapes agree. A scalar is an array of one element.
func sameShape(a, b []int) bool {
	return slices.Equal(a, b) || len(a)+len(b) == 1 && size(a)*size(b) == 1
}
