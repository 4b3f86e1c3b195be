package convert_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// small is the model of testdata/small.pt.
func small() (convert.Modules, *layers.Linear) {
	l := initialised(&layers.Linear{In: 3, Out: 2})
	return convert.Modules{"0": l, "1": initialised(&layers.BatchNorm{Width: 2})}, l
}

func smallState(t *testing.T) convert.State {
	t.Helper()
	s, err := convert.Load("testdata/small.pt")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The error of a state dict of another model lists all that differs, and nothing is changed.
func TestLoadMismatch(t *testing.T) {
	m, l := small()
	before := slices.Clone(l.W.Value.Data)
	s := smallState(t)
	delete(s, "0.bias")
	delete(s, "1.running_var")
	s["2.weight"], s["extra"] = s["1.bias"], s["1.bias"]
	s["0.weight"] = convert.Array{Shape: []int{3, 2}, Data: s["0.weight"].Data}
	err := m.Load(convert.PyTorch, s)
	const want = "convert: load: the state dict is not one of PyTorch of this model: missing there: 0.bias, 1.running_var; " +
		"not in the model: 2.weight, extra; 0.weight is [3 2] there and [2 3] in the model"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !slices.Equal(l.W.Value.Data, before) {
		t.Error("the model has changed")
	}
	s = smallState(t)
	s["0.bias"] = convert.Array{Shape: []int{2}, Data: make([]tensor.Float, 1)}
	if err := m.Load(convert.PyTorch, s); err == nil || !strings.Contains(err.Error(), "0.bias has 1 elements for its shape [2]") {
		t.Errorf("%v", err)
	}
}

// Elements of another type: floats of any width are weights, whole numbers are not, in
// whatever file they stand.
func TestLoadElements(t *testing.T) {
	l := initialised(&layers.Linear{In: 3, Out: 2})
	m := convert.Modules{"lin": l, "table": grad.NewParam(2)}
	before := slices.Clone(l.W.Value.Data)
	views, err := convert.Load("testdata/views.pt")
	if err != nil {
		t.Fatal(err)
	}
	weight := views["strided"] // 2×3, of float32
	weight.Data = slices.Repeat(views["half"].Data[1:2], 6)
	s := convert.State{"lin.weight": weight, "lin.bias": views["long"], "table": views["bool"]}
	err = m.Load(convert.PyTorch, s)
	const want = "of this model: whole numbers or booleans, where weights are floats: lin.bias, table; write there the floats that whole numbers stand for, as in a quantised model; if these are meant, unset their Whole"
	if err == nil || !strings.HasSuffix(err.Error(), want) || !slices.Equal(l.W.Value.Data, before) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, name := range []string{"lin.bias", "table"} {
		meant := s[name]
		meant.Whole = false
		s[name] = meant
	}
	if err := m.Load(convert.PyTorch, s); err != nil || l.W.Value.Data[0] != 0.25 || l.B.Value.Data[0] != -3 {
		t.Errorf("%v: %v, %v", err, l.W.Value.Data, l.B.Value.Data)
	}
	for _, name := range []string{"small.npz", "small.safetensors", "small.pt"} { // with a counter of whole numbers, which is not read
		s, err := convert.Load(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if !s["1.num_batches_tracked"].Whole || s["0.weight"].Whole {
			t.Errorf("%s: the counter is %v, the weight %v", name, s["1.num_batches_tracked"], s["0.weight"])
		}
		model, _ := small()
		if err := model.Load(convert.PyTorch, s); err != nil {
			t.Error(err)
		}
	}
}

// Names that all have something before them, as DataParallel and Lightning save them.
func TestLoadBeneath(t *testing.T) {
	m, _ := small()
	s := convert.State{}
	for name, a := range smallState(t) {
		s["module.net."+name] = a
	}
	if err := m.Load(convert.PyTorch, s); err == nil || !strings.HasSuffix(err.Error(), `; what is missing is there under "module.net": load state.Under("module.net"), or name the Modules so`) {
		t.Errorf("%v", err)
	}
	if err := m.Load(convert.PyTorch, s.Under("module.net")); err != nil {
		t.Error(err)
	}
	delete(s, "module.net.0.bias")
	if err := m.Load(convert.PyTorch, s); err == nil || strings.Contains(err.Error(), "Under") {
		t.Errorf("%v", err)
	}
}

// A state dict of another framework names what it would have to have.
func TestLoadOtherFramework(t *testing.T) {
	l := initialised(&layers.GCNConv{In: 3, Out: 2})
	s := convert.State{"weight": {Shape: []int{3, 2}, Data: make([]tensor.Float, 6)}, "bias": {Shape: []int{2}, Data: make([]tensor.Float, 2)}}
	m := convert.Modules{"": l}
	if err := m.Load(convert.DGL, s); err != nil {
		t.Error(err)
	}
	if err := m.Load(convert.PyG, s); err == nil || !strings.Contains(err.Error(), "missing there: lin.weight; not in the model: weight") {
		t.Errorf("%v", err)
	}
}

// The names that PyG had before version 2.5 are read: two for one matrix, which must agree.
func TestOlderGATConv(t *testing.T) {
	l := initialised(&layers.GATConv{In: 2, Out: 1, Heads: 2})
	m := convert.Modules{"": l}
	s, err := m.State(convert.PyG)
	if err != nil {
		t.Fatal(err)
	}
	s["lin_src.weight"], s["lin_dst.weight"] = s["lin.weight"], s["lin.weight"]
	delete(s, "lin.weight")
	if err := m.Load(convert.PyG, s); err != nil {
		t.Error(err)
	}
	other := slices.Clone(s["lin_dst.weight"].Data)
	other[3]++
	s["lin_dst.weight"] = convert.Array{Shape: []int{2, 2}, Data: other}
	if err := m.Load(convert.PyG, s); err == nil || !strings.Contains(err.Error(), "lin_src.weight and lin_dst.weight differ there and are one Param of the model") {
		t.Errorf("%v", err)
	}
}

// TopKPooling's vector was an array of its own before version 2.4.
func TestOlderTopKPooling(t *testing.T) {
	l := initialised(&pool.TopK{In: 2})
	s := convert.State{"pool1.weight": {Shape: []int{1, 2}, Data: []tensor.Float{3, 4}}}
	if err := (convert.Modules{"pool1": l}).Load(convert.PyG, s); err != nil || l.P.Value.Data[1] != 4 {
		t.Errorf("%v: %v", err, l.P.Value.Data)
	}
}

// Two biases there are one here: their sum, but for what a GRU resets.
func TestTwoBiases(t *testing.T) {
	l := initialised(&sequence.GRU{In: 1, Hidden: 1})
	m := convert.Modules{"rnn": l}
	s := convert.State{"rnn.weight_ih_l0": {Shape: []int{3, 1}, Data: []tensor.Float{1, 2, 3}}, "rnn.weight_hh_l0": {Shape: []int{3, 1}, Data: []tensor.Float{4, 5, 6}},
		"rnn.bias_ih_l0": {Shape: []int{3}, Data: []tensor.Float{1, 2, 3}}, "rnn.bias_hh_l0": {Shape: []int{3}, Data: []tensor.Float{10, 20, 30}}}
	if err := m.Load(convert.PyTorch, s); err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(l.B.Value.Data, l.BN.Value.Data); !slices.Equal(got, []tensor.Float{11, 22, 3, 30}) {
		t.Errorf("the biases are %v", got)
	}
	back, err := m.State(convert.PyTorch)
	if err != nil || !slices.Equal(back["rnn.bias_ih_l0"].Data, []tensor.Float{11, 22, 3}) || !slices.Equal(back["rnn.bias_hh_l0"].Data, []tensor.Float{0, 0, 30}) {
		t.Errorf("%v, %v", back, err)
	}
}

// A cell whose formula is another one is refused, whatever its shapes.
func TestOtherCells(t *testing.T) {
	for want, l := range map[string]sequence.Cell{
		"no UpdateAdmits": initialised(&sequence.GRU{In: 2, Hidden: 2, UpdateAdmits: true}),
		"no ResetBefore":  initialised(&sequence.GRU{In: 2, Hidden: 2, ResetBefore: true}),
		"no Minimal":      initialised(&sequence.GRU{In: 2, Hidden: 2, Minimal: true}),
		"no Leak":         initialised(&sequence.RNN{In: 2, Hidden: 2, Leak: 0.5}),
		"no Residual":     initialised(&sequence.RNN{In: 2, Hidden: 2, Residual: true}),
		"no other Forget": initialised(&sequence.LSTM{In: 2, Hidden: 2, Forget: sequence.CoupledForget}),
		"no LayerNorm":    initialised(&sequence.LSTM{In: 2, Hidden: 2, LayerNorm: true}),
	} {
		if _, err := (convert.Modules{"": l}).State(convert.PyTorch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %q", err, want)
		}
	}
}

// Attention of another formula is refused, too.
func TestOtherAttention(t *testing.T) {
	for want, p := range map[string]attention.Position{"no Rotary": attention.Rotary, "has no place for its Self.Offset": attention.Relative} {
		l := initialised(&attention.EncoderBlock{Block: attention.Block{Model: 4, Heads: 2, Position: p}})
		if _, err := (convert.Modules{"": l}).State(convert.PyTorch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %q", err, want)
		}
	}
}

// What a layer of this library has besides is no part of the one there, and is not left out
// without a word.
func TestNothingIsLeftOut(t *testing.T) {
	l := initialised(&sequence.Conv1D{In: 2, Out: 2, Kernel: 3, WeightNorm: true})
	if _, err := (convert.Modules{"conv": l}).State(convert.PyTorch); err == nil || !strings.Contains(err.Error(), `"conv", a *sequence.Conv1D: PyTorch has no place for its Gain of shape [2]`) {
		t.Errorf("%v", err)
	}
}

// A BatchNorm1d in a PyG model is read and not only PyG's own, which has it as its module.
func TestBatchNormOfEither(t *testing.T) {
	l := initialised(&layers.BatchNorm{Width: 2})
	m := convert.Modules{"norm": l}
	for _, f := range []convert.Framework{convert.PyTorch, convert.PyG} {
		s, err := m.State(f)
		if err != nil {
			t.Fatal(err)
		}
		prefix := map[convert.Framework]string{convert.PyTorch: "norm.", convert.PyG: "norm.module."}[f]
		mean, ok := s[prefix+"running_mean"]
		if !ok {
			t.Fatalf("%s has the names\n%v", f, s)
		}
		mean.Data[1] = tensor.Float(len(prefix))
		s[prefix+"num_batches_tracked"] = convert.Array{Data: []tensor.Float{7}}
		if err := m.Load(convert.PyG, s); err != nil || l.Mean.Value.Data[1] != tensor.Float(len(prefix)) {
			t.Errorf("%v: %v, %v", f, err, l.Mean.Value.Data)
		}
	}
}

// Modules within modules, and one Param under two names.
func TestNestedModules(t *testing.T) {
	table := grad.NewParam(2, 3)
	m := convert.Modules{"encoder": convert.Modules{"embed.weight": table, "lin": initialised(&layers.Linear{In: 3, Out: 2, NoBias: true})}, "tied.weight": table}
	s, err := m.State(convert.PyTorch)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(s)); !slices.Equal(got, []string{"encoder.embed.weight", "encoder.lin.weight", "tied.weight"}) {
		t.Errorf("%v", got)
	}
	s["tied.weight"].Data[1] = 7
	if err := m.Load(convert.PyTorch, s); err == nil || !strings.Contains(err.Error(), "differ there and are one Param") {
		t.Errorf("%v", err)
	}
	s["encoder.embed.weight"].Data[1] = 7
	if err := m.Load(convert.PyTorch, s); err != nil || table.Value.Data[1] != 7 {
		t.Errorf("%v, %v", err, table.Value.Data)
	}
}

func TestWriteFails(t *testing.T) {
	if err := convert.Save(filepath.Join(t.TempDir(), "no", "a"), convert.State{}); err == nil || !strings.HasPrefix(err.Error(), "convert: ") {
		t.Errorf("%v", err)
	}
	if err := convert.Save(filepath.Join(t.TempDir(), "a"), convert.State{"w": {Shape: []int{2}, Data: make([]tensor.Float, 1)}}); err == nil || !strings.Contains(err.Error(), `"w" has 1 elements for the shape [2]`) {
		t.Errorf("%v", err)
	}
}
