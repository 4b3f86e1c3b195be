package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
)

type node struct {
	W    *grad.Param
	Next *node
}

// Base is embedded; Params does not name it.
type Base struct{ Scale *grad.Param }

type hidden struct{ Shift *grad.Param }

type model struct {
	Base
	hidden
	First   node
	Layers  []*node
	Pair    [2]*grad.Param
	Any     any
	Nil     *node
	NoValue *grad.Param
	private *grad.Param
	Names   []string
	Ring    *node
	Again   *grad.Param
	Inline  grad.Param
}

func paths(m any) []string {
	var names []string
	for name := range grad.Params(m) {
		names = append(names, name)
	}
	return names
}

func TestParams(t *testing.T) {
	p := func() *grad.Param { return grad.NewParam(1) }
	m := &model{
		Base: Base{p()}, hidden: hidden{p()}, First: node{W: p()},
		Layers: []*node{{W: p()}, nil, {W: p(), Next: &node{W: p()}}},
		Pair:   [2]*grad.Param{p(), p()}, Any: &node{W: p()},
		NoValue: &grad.Param{}, private: p(), Names: []string{"a"},
		Inline: *p(),
	}
	m.Ring = &node{W: p()}
	m.Ring.Next = m.Ring
	m.Again = m.First.W // shared: named once, by the first path
	want := []string{"Scale", "Shift", "First.W", "Layers.0.W", "Layers.2.W", "Layers.2.Next.W", "Pair.0", "Pair.1", "Any.W", "Ring.W", "Inline"}
	if got := paths(m); !slices.Equal(got, want) {
		t.Errorf("paths are %v, want %v", got, want)
	}
	if m.private == nil || len(paths(nil)) != 0 || len(paths(7)) != 0 || len(paths((*model)(nil))) != 0 {
		t.Error("there are Params in nothing")
	}
	if got := paths([]*grad.Param{p(), p()}); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("paths of a list are %v", got)
	}
	n := 0
	for range grad.Params(m) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("broke off after %d", n)
	}
}
