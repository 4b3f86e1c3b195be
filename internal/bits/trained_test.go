package bits

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

const trainedPath = "testdata/trained.txt"

// Kernels may be off from float64 by so many times what plain Go in float32 is off by: both round at random.
const worse = 3

// TestTrained trains five networks with this processor's kernels and in plain Go. Losses and what Params are
// at the end are held against those of the same training in float64, which testdata/trained.txt records: kernels must be about as
// near as plain Go, and have the same bits on any number of threads. Unlike the table of hashes it runs on every processor.
//
//	go test -tags f64 ./internal/bits -run TestTrained -update
//
// records them.
func TestTrained(t *testing.T) {
	exact := unsafe.Sizeof(tensor.Float(0)) == 8
	if exact && *update {
		var text []byte
		for _, k := range trained {
			losses, params := k.run(t, 1)
			text = fmt.Appendf(text, "%s/losses%s\n%s/params%s\n", k.name, numbers(losses), k.name, numbers(params))
		}
		if err := os.WriteFile(trainedPath, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := readTrained(t)
	for _, k := range trained {
		t.Run(k.name, func(t *testing.T) {
			losses, params := k.run(t, 1)
			for threads := 2; threads <= 3; threads++ {
				l, p := k.run(t, threads)
				if !slices.Equal(l, losses) || !slices.Equal(p, params) {
					t.Errorf("other bits on %d threads", threads)
				}
			}
			defer cpu.Disable()()
			plainLosses, plainParams := losses, params
			if cpu.Path() != "go" {
				t.Fatal("kernels run where they should not")
			}
			if !exact {
				plainLosses, plainParams = k.run(t, 1)
			}
			near(t, "losses", losses, plainLosses, want[k.name+"/losses"], exact)
			near(t, "params", params, plainParams, want[k.name+"/params"], exact)
		})
	}
}

// near compares numbers, and those of plain Go, with those of float64.
func near(t *testing.T, what string, got, plain, want []float64, exact bool) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d %s are recorded, and %d there", len(want), what, len(got))
	}
	off, may := distance(got, want), distance(plain, want)
	t.Logf("%s: off by %.2g, plain Go by %.2g", what, off, may)
	most := 1e-5 // of plain Go itself
	if exact {
		most = 1e-9 // of what is recorded
	}
	if !(may <= most) {
		t.Errorf("plain Go's %s are off from float64 by %.3g of their size, more than %g", what, may, most)
	}
	if !exact && !(off <= worse*may) {
		t.Errorf("%s with kernels are off from float64 by %.3g of their size, and in plain Go by %.3g", what, off, may)
	}
}

// distance is how long the difference is, as a part of what is wanted.
func distance(got, want []float64) float64 {
	var d, n float64
	for i, w := range want {
		d += (got[i] - w) * (got[i] - w)
		n += w * w
	}
	return math.Sqrt(d / n)
}

func numbers(x []float64) string {
	var b strings.Builder
	for _, v := range x {
		fmt.Fprintf(&b, " %.11g", v)
	}
	return b.String()
}

// readTrained reads what is recorded, by name.
func readTrained(t *testing.T) map[string][]float64 {
	text, err := os.ReadFile(trainedPath)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		for word := range strings.FieldsSeq(rest) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = append(all[name], v)
		}
	}
	return all
}

// learner is a training: a model and its loss.
type learner struct {
	name string
	make func(m *maker) (model any, loss func(t *grad.Tape) *grad.Var)
}

// run trains and returns the loss of each epoch and some numbers of every Param. Adam's Eps is large: a gradient
// that is 0 but for rounding, as that of the biases of keys, would move them by as much as any other.
func (k learner) run(t *testing.T, threads int) (losses, params []float64) {
	defer par.SetThreads(threads)()
	model, loss := k.make(makerOn(nil, k.name))
	fit := train.Fit{Model: model, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 5e-4, Eps: 1e-4}, Seed: 4, Epochs: 6, ClipNorm: 1, Loss: loss}
	history, err := fit.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history.Epochs {
		losses = append(losses, e.Loss)
	}
	for _, p := range grad.Params(model) {
		x := p.Value.Data
		for i := 0; i < len(x); i += 1 + len(x)/37 {
			params = append(params, float64(x[i]))
		}
	}
	return losses, params
}

// trained are the networks of TestTrained.
var trained = []learner{
	{"gat", func(m *maker) (any, func(*grad.Tape) *grad.Var) { return m.ofNodes("gat") }},
	{"gcn", func(m *maker) (any, func(*grad.Tape) *grad.Var) { return m.ofNodes("gcn/symmetric") }},
	{"sage", func(m *maker) (any, func(*grad.Tape) *grad.Var) { return m.ofNodes("sage") }},
	{"lstm", func(m *maker) (any, func(*grad.Tape) *grad.Var) {
		g := graph.Chains(slices.Repeat([]int{11, 7, 12, 3}, 11)...)
		c := &classifier{&sequence.LSTM{In: 19, Hidden: 32, ForgetBias: 1}, &layers.Linear{In: 32, Out: 5}}
		c.Cell.Init(m.Rand)
		c.Out.Init(m.Rand)
		x, labels := grad.Const(m.normal(g.NumNodes(), 19)), m.rows(44, 5)
		return c, func(t *grad.Tape) *grad.Var {
			state := c.Cell.ForwardFrom(t, g, x, nil)
			return c.Out.Forward(t, t.Dropout(state.Rows(g.Sinks())[0], 0.3)).CrossEntropy(labels)
		}
	}},
	{"encoder", func(m *maker) (any, func(*grad.Tape) *grad.Var) {
		g := graph.Batch(slices.Repeat([]*graph.Graph{graph.Complete(30), graph.Causal(17)}, 5)...)
		e := &reader{
			&layers.Linear{In: 19, Out: 32},
			&attention.Encoder{Block: attention.Block{Model: 32, Heads: 4, Hidden: 61, Drop: 0.1}, Depth: 2},
			&layers.Linear{In: 32, Out: 5},
		}
		for _, l := range []interface{ Init(*rand.Rand) }{e.In, e.Encoder, e.Out} {
			l.Init(m.Rand)
		}
		x, labels := grad.Const(m.normal(g.NumNodes(), 19)), m.rows(g.NumNodes(), 5)
		return e, func(t *grad.Tape) *grad.Var {
			return e.Out.Forward(t, e.Encoder.Forward(t, g, e.In.Forward(t, x))).CrossEntropy(labels)
		}
	}},
}

// reader is an encoder between two linear layers.
type reader struct {
	In      *layers.Linear
	Encoder *attention.Encoder
	Out     *layers.Linear
}

// ofNodes is a network by its name in kinds, for nodes of seven classes.
func (m *maker) ofNodes(name string) (any, func(*grad.Tape) *grad.Var) {
	all := kinds()
	n := all[slices.IndexFunc(all, func(k kind) bool { return k.name == name })].make(150, 7)
	for _, l := range n.Layers {
		l.Init(m.Rand)
	}
	g := random.PowerLaw(m.Rand, 601, 3001, 0.6)
	x, labels := m.sparse(601, 150), m.rows(601, 7)
	gs := slices.Repeat([]*graph.Graph{g}, len(n.Layers))
	return n, func(t *grad.Tape) *grad.Var { return n.forward(t, gs, nil, x).CrossEntropy(labels) }
}
