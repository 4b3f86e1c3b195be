package node

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weightedWay is oneWay with a weight of each edge.
func weightedWay() *Examples {
	d := oneWay().Dataset
	rng := rand.New(rand.NewPCG(1, 9))
	d.Weights = make([]tensor.Float, d.Graph.NumEdges())
	for e := range d.Weights {
		d.Weights[e] = tensor.Float(rng.IntN(5)) * tensor.Float(rng.Float64()) // some are 0
	}
	return suitGAT(NewExamples(d))
}

// spread returns Σ_u s_vu·x_u where s = w_uv/√(w_u·w_v), w_v is the sum of the weights
// into v, and a node without a loop hears itself with the weight 1, as PyG's gcn_norm has it.
func spread(k *Examples, x [][]float64) [][]float64 {
	n := k.Graph.NumNodes()
	a, sum := make([][]float64, n), make([]float64, n) // a[v][u]
	for v := range a {
		a[v] = make([]float64, n)
		if !slices.Contains(k.Graph.In().Cols[k.Graph.In().Offsets[v]:k.Graph.In().Offsets[v+1]], int32(v)) {
			a[v][v], sum[v] = 1, 1
		}
	}
	to := k.Graph.Destinations()
	for e, u := range k.Graph.In().Cols {
		a[to[e]][u] += float64(k.Weights[e])
		sum[to[e]] += float64(k.Weights[e])
	}
	y := make([][]float64, n)
	for v := range y {
		y[v] = make([]float64, len(x[0]))
		for u, w := range a[v] {
			for j := range y[v] {
				if w != 0 {
					y[v][j] += w / math.Sqrt(sum[u]*sum[v]) * x[u][j]
				}
			}
		}
	}
	return y
}

// product returns x·w + b; b may be nil.
func product(x [][]float64, w, b *grad.Param) [][]float64 {
	y := make([][]float64, len(x))
	for i := range y {
		y[i] = make([]float64, w.Value.Dim(1))
		for j := range y[i] {
			if b != nil {
				y[i][j] = float64(b.Value.Data[j])
			}
			for p, v := range x[i] {
				y[i][j] += v * float64(w.Value.Row(p)[j])
			}
		}
	}
	return y
}

func rectified(x [][]float64) [][]float64 {
	for _, row := range x {
		for j := range row {
			row[j] = math.Max(0, row[j])
		}
	}
	return x
}

// rowsOf returns the features as a task has them.
func rowsOf(k *Examples) [][]float64 {
	var x [][]float64
	for i := range k.Graph.NumNodes() {
		var row []float64
		for _, v := range k.Rows.(*tensor.Dense).Row(i) {
			row = append(row, float64(v))
		}
		x = append(x, row)
	}
	return x
}

// mixed is a·x + b·y.
func mixed(a float64, x [][]float64, b float64, y [][]float64) [][]float64 {
	z := make([][]float64, len(x))
	for i := range x {
		for j := range x[i] {
			z[i] = append(z[i], a*x[i][j]+b*y[i][j])
		}
	}
	return z
}

// block is n rows of p from lo on.
func block(p *grad.Param, lo, n int) *grad.Param {
	part := grad.NewParam(n, p.Value.RowLen())
	for i := range n {
		copy(part.Value.Row(i), p.Value.Row(lo+i))
	}
	return part
}

// catalogueFormulas is how TAG, ChebNet, ARMA and GCNII count weights, as loops.
func catalogueFormulas() map[string]func(k *Examples, n *Network) [][]float64 {
	part := func(w *grad.Param, i int) *grad.Param { // of three, one below the other
		in := w.Value.Rows() / 3
		return block(w, i*in, in)
	}
	tag := func(k *Examples, x [][]float64, w, b *grad.Param) [][]float64 {
		y := product(x, part(w, 0), b)
		for i := 1; i <= 2; i++ {
			x = spread(k, x)
			y = mixed(1, y, 1, product(x, part(w, i), nil))
		}
		return y
	}
	cheb := func(k *Examples, x [][]float64, w, b *grad.Param) [][]float64 { // λ is 2, so L̂ = −S
		one := spread(k, x)
		two := mixed(2, spread(k, one), -1, x)
		y := mixed(1, product(x, part(w, 0), b), -1, product(one, part(w, 1), nil))
		return mixed(1, y, 1, product(two, part(w, 2), nil))
	}
	twice := func(layer func(k *Examples, x [][]float64, w, b *grad.Param) [][]float64) func(k *Examples, n *Network) [][]float64 {
		return func(k *Examples, n *Network) [][]float64 {
			x := rectified(layer(k, rowsOf(k), paramOf(n, "Layers.0.W"), paramOf(n, "Layers.0.B")))
			return layer(k, x, paramOf(n, "Layers.1.W"), paramOf(n, "Layers.1.B"))
		}
	}
	return map[string]func(k *Examples, n *Network) [][]float64{
		"tag":  twice(tag),
		"cheb": twice(cheb),
		"arma": func(k *Examples, n *Network) [][]float64 {
			step := func(x [][]float64, layer string) [][]float64 {
				w, v, b := paramOf(n, layer+".W.0"), paramOf(n, layer+".V.0"), paramOf(n, layer+".B.0")
				return mixed(1, spread(k, product(x, w, nil)), 1, product(x, v, b))
			}
			return step(rectified(step(rowsOf(k), "Layers.0")), "Layers.1")
		},
		"gcn2": func(k *Examples, n *Network) [][]float64 {
			first := rectified(product(rowsOf(k), paramOf(n, "Layers.0.Dense.W"), paramOf(n, "Layers.0.Dense.B")))
			h := mixed(1, first, 0, first)
			for i := range 16 {
				beta := math.Log(0.5/float64(i+1) + 1)
				z := mixed(0.9, spread(k, h), 0.1, first)
				h = rectified(mixed(1-beta, z, beta, product(z, paramOf(n, fmt.Sprintf("Layers.0.Deep.%d.W", i)), nil)))
			}
			return product(h, paramOf(n, "Layers.1.Dense.W"), paramOf(n, "Layers.1.Dense.B"))
		},
	}
}

// The models that count weights are those formulas, written as loops; and the others see
// the graph as if it had none.
func TestWeightedModels(t *testing.T) {
	formulas := map[string]func(k *Examples, n *Network) [][]float64{
		"gcn": func(k *Examples, n *Network) [][]float64 {
			x := rectified(spread(k, product(rowsOf(k), paramOf(n, "Layers.0.W"), paramOf(n, "Layers.0.B"))))
			return spread(k, product(x, paramOf(n, "Layers.1.W"), paramOf(n, "Layers.1.B")))
		},
		"sgc": func(k *Examples, n *Network) [][]float64 {
			return product(spread(k, spread(k, rowsOf(k))), paramOf(n, "Layers.0.W"), paramOf(n, "Layers.0.B"))
		},
		"appnp": func(k *Examples, n *Network) [][]float64 {
			x := rectified(product(rowsOf(k), paramOf(n, "Layers.0.Dense.W"), paramOf(n, "Layers.0.Dense.B")))
			x = product(x, paramOf(n, "Layers.1.Dense.W"), paramOf(n, "Layers.1.Dense.B"))
			z := x
			for range 10 {
				next := spread(k, z)
				for i := range next {
					for j := range next[i] {
						next[i][j] = 0.9*next[i][j] + 0.1*x[i][j]
					}
				}
				z = next
			}
			return z
		},
	}
	for name, f := range catalogueFormulas() {
		formulas[name] = f
	}
	for _, name := range models.Names(models.ReadsNone, models.MayNumbers, models.MayKinds) {
		k := weightedWay()
		r := undropped(t, name)
		net, err := NewNetwork(r, k.Features.Shape()[1], k.Classes)
		if err != nil {
			t.Fatal(err)
		}
		got := k.said(grad.NewEval(), net)
		formula := formulas[name]
		if (k.Weighing(r.Traits()) == "used") != (formula != nil) {
			t.Fatalf("%s: the weights are %s", name, k.Weighing(r.Traits()))
		}
		if formula == nil {
			plain := oneWay()
			want := plain.said(grad.NewEval(), net)
			compare.Equal(t, name+": with weights that are not used", got.Data, want.Data)
			continue
		}
		want := formula(k, net)
		compare.Near(t, name, got.Data, slices.Concat(want...), compare.Off(1e-5, 1e-5))
	}
}

// With weights, too, a step on the rows that are needed is one on all, and a batch of
// nodes gives what the whole graph gives.
func TestWeightedRowsAndBatches(t *testing.T) {
	for _, name := range []string{"gcn", "sgc", "appnp", "gat"} {
		k := weightedWay()
		_, r := taskOf(t, name)
		r.Rows = RowsNeeded
		some, losses := trained(t, k, r)
		r.Rows = rowsAll
		all, want := trained(t, k, r)
		compare.Near(t, name+": losses, and of all rows", losses, want, compare.Off(1e-4, 1e-4))
		for p, v := range grad.Params(some) {
			compare.Near(t, name+": "+p, v.Value.Data, paramOf(all, p).Value.Data, compare.Off(1e-3, 0))
		}
		if r.Traits().Whole != "" {
			continue
		}
		whole := k.said(grad.NewEval(), some)
		seeds := []int32{7, 0, 179, 123}
		part := some.Run(grad.NewEval(), batchOf(t, k, some, seeds)).Value()
		for i, v := range seeds {
			by := compare.Off(1e-5, 0)
			if name == "gcn" {
				by = compare.Exactly
			}
			compare.Near(t, fmt.Sprintf("%s: node %d, in a batch and on the whole graph", name, v), part.Row(i), whole.Row(int(v)), by)
		}
	}
}

// A saved model is used with the weights that it was trained with, and its split; a model
// that divides by sums of weights refuses negative ones.
func TestWeightsAndSplitsOfFiles(t *testing.T) {
	d := weightedWay().Dataset
	second := d.Split
	second.Train, second.Test = d.Split.Test[:20], d.Split.Train
	d.Splits = append(d.Splits, d.Split, second)
	path, model := filepath.Join(t.TempDir(), "d.npz"), filepath.Join(t.TempDir(), "m.safetensors")
	write := func() {
		t.Helper()
		if err := d.SaveNPZ(path); err != nil {
			t.Fatal(err)
		}
	}
	write()
	last := func(args ...string) map[string]any {
		t.Helper()
		lines := tasktest.Results(t, append(args, "--json")...)
		return lines[len(lines)-1]
	}
	scores := func(o map[string]any) string {
		return fmt.Sprint(o["train_accuracy"], o["val_accuracy"], o["test_accuracy"])
	}
	trained := last("train", "--dataset", path, "--model", "gcn", "--epochs", "5", "--split-number", "1", "--save", model)
	if trained["edge_weights"] != "used" {
		t.Errorf("the weights are %v", trained["edge_weights"])
	}
	same := last("eval", model)
	other := last("eval", model, "--split-number", "0")
	if scores(same) != scores(trained) || scores(other) == scores(same) {
		t.Errorf("trained %s, evaluated %s, on the other split %s", scores(trained), scores(same), scores(other))
	}
	d.Weights[0] += 100
	write()
	stdout, stderr := tasktest.Says(t, "eval", model, "--json")
	if heavier := tasktest.Objects(t, stdout)[0]; heavier["test_loss"] == same["test_loss"] || !strings.Contains(stderr, "it has changed since") {
		t.Errorf("another weight is the same to a saved model, or goes without a word: %s", stderr)
	}
	d.Weights[3] = -1
	write()
	u, v := d.Graph.In().Cols[3], d.Graph.Destinations()[3]
	says := fmt.Sprintf("the edge from node %d to node %d has the weight -1, and ", u, v)
	for _, args := range [][]string{{"train", "--dataset", path, "--model", "gcn"}, {"eval", model}, {"predict", model}, {"table", "--datasets", path, "--models", "gcn", "--seeds", "1"}} {
		if _, stderr, status := tasktest.Gatbench(t, args...); status == cli.Succeeded || !strings.Contains(stderr, says) {
			t.Errorf("%v: status %d, error %s; want %s", args, status, stderr, says)
		}
	}
	out, _, status := tasktest.Gatbench(t, "train", "--dataset", path, "--model", "mlp", "--epochs", "1")
	if status != cli.Succeeded || !strings.Contains(out, "edge weights: not used by MLP") || !strings.Contains(out, "split 0 of 2 (counted from 0)") {
		t.Errorf("status %d, summary %s", status, out)
	}
}

// --split-number names one of several splits, or takes for each seed another.
func TestSplitNumber(t *testing.T) {
	d := oneWay().Dataset
	for k := range 3 {
		s := d.Split
		s.Train = d.Split.Test[10*k : 10*k+10]
		s.Test = d.Split.Test[30:]
		d.Splits = append(d.Splits, s)
	}
	d.Split = d.Splits[0]
	path := filepath.Join(t.TempDir(), "d.npz")
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	losses := func(args ...string) (out []string) {
		t.Helper()
		for _, o := range tasktest.Results(t, append([]string{"train", "--json", "--dataset", path, "--model", "mlp", "--epochs", "1"}, args...)...) {
			if o["event"] == "epoch" {
				out = append(out, fmt.Sprint(o["loss"]))
			}
		}
		return out
	}
	each := losses("--split-number", "each", "--seeds", "4")
	for seed := range 4 {
		alone := losses("--split-number", fmt.Sprint(seed%3), "--seed", fmt.Sprint(seed))
		if each[seed] != alone[0] {
			t.Errorf("seed %d: loss %s, on split %d alone %s", seed, each[seed], seed%3, alone[0])
		}
		if own := losses("--seed", fmt.Sprint(seed)); (own[0] == alone[0]) != (seed%3 == 0) {
			t.Errorf("seed %d: loss %s on the first split, %s on split %d", seed, own[0], alone[0], seed%3)
		}
	}
	for args, want := range map[string]string{
		"--split-number 3":                    "--split-number 3: d has no split 3; it has 3, numbers 0 to 2",
		"--split-number -1":                   "--split-number -1: want a number from 0, or each",
		"--split-number some":                 "--split-number some: want a number from 0, or each",
		"--split-number 1 --splits random":    "--split-number 1 and --splits random: a random split follows from the seed: leave the number out",
		"--split-number 3 --splits " + path:   "--split-number 3: " + path + " has no split 3; it has 3, numbers 0 to 2",
		"--split-number 99999999999999999999": "--split-number 99999999999999999999: want a number from 0, or each",
	} {
		line := append([]string{"train", "--dataset", path}, strings.Fields(strings.Replace(args, "--split-number ", "--split-number=", 1))...)
		if _, stderr, status := tasktest.Gatbench(t, line...); status != cli.Misused || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, error %q, want %q", args, status, stderr, want)
		}
	}
}
