package train_test

import (
	"bytes"
	"context"
	"encoding"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// epochs returns a history without what differs from run to run.
func epochs(h *train.History) []train.Epoch {
	out := slices.Clone(h.Epochs)
	for i := range out {
		out[i].Took = 0
	}
	return out
}

// halves trains all epochs at once, and half of them, then cancelled, and the rest by
// a new model with a new optimiser.
func halves(t *testing.T, fit func(m *logistic) *train.Fit) {
	t.Helper()
	dir := t.TempDir()
	whole, first, second := newLogistic(), newLogistic(), newLogistic()
	f := fit(whole)
	f.Checkpoint = filepath.Join(dir, "whole")
	half := f.Epochs / 2
	want, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	f = fit(first)
	f.Checkpoint = filepath.Join(dir, "half")
	ctx, cancel := context.WithCancel(t.Context())
	f.OnEpoch = func(e train.Epoch) {
		if e.N == half {
			cancel()
		}
	}
	if _, err := f.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	for _, p := range grad.Params(second) {
		p.Value.Fill(9) // the file has all there is
	}
	f = fit(second)
	f.Resume, f.Checkpoint = filepath.Join(dir, "half"), filepath.Join(dir, "both")
	var seen []train.Epoch
	f.OnEpoch = func(e train.Epoch) { seen = append(seen, e) }
	got, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values(second), values(whole)) {
		t.Errorf("resumed: %v, at once: %v", values(second), values(whole))
	}
	if !slices.Equal(epochs(got), epochs(want)) || len(seen) != half || seen[0].N != half+1 {
		t.Errorf("the history of %d epochs is another one, or %d epochs were run after the resumption", len(got.Epochs), len(seen))
	}
	a, _ := os.ReadFile(filepath.Join(dir, "whole"))
	b, _ := os.ReadFile(filepath.Join(dir, "both"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("the two checkpoints after all epochs differ")
	}
}

// TestResume has dropout in the model, and tries every optimiser.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, opt func() train.Optimiser) {
		halves(t, func(m *logistic) *train.Fit {
			f := newFit(m)
			f.Epochs, f.Optimiser = 40, opt() // RAdam begins otherwise, for five
			return f
		})
	})
}

// TestResumeEverything has all else that a run can have.
func TestResumeEverything(t *testing.T) {
	halves(t, func(m *logistic) *train.Fit {
		f := newFit(m)
		f.Epochs, f.Average, f.ClipNorm, f.By, f.Patience = 200, 0.9, 0.3, train.ByEither, 120
		f.Optimiser = &train.SGD{LR: 0.5, Momentum: 0.9, Schedule: &train.Warmup{Steps: 10, Then: train.Warmup{Steps: 140, Then: &train.Plateau{By: 0.7, Patience: 3}}}}
		return f
	})
	halves(t, func(m *logistic) *train.Fit {
		f := newFit(m)
		f.Epochs, f.Eval = 200, nil
		f.Optimiser = &train.Adam{LR: 0.5, Schedule: &train.Plateau{Patience: 2, By: 0.9}, Groups: []train.Group{{Match: "B", Frozen: true}}}
		return f
	})
}

// TestResumeKilled kills a process in epoch 37, by the system, and goes on from
// what it wrote after epoch 30.
func TestResumeKilled(t *testing.T) {
	fit := func(m *logistic, path string) *train.Fit {
		f := newFit(m)
		f.Epochs, f.Checkpoint, f.Every = 50, path, 10
		return f
	}
	if path := os.Getenv("EDGEWISE_TEST_KILLED"); path != "" {
		f := fit(newLogistic(), path)
		f.OnEpoch = func(e train.Epoch) {
			if e.N == 37 {
				p, _ := os.FindProcess(os.Getpid())
				_ = p.Kill()
				select {}
			}
		}
		_, err := f.Run(context.Background())
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "checkpoint")
	child := exec.Command(os.Args[0], "-test.run=^TestResumeKilled$")
	child.Env = append(os.Environ(), "EDGEWISE_TEST_KILLED="+path)
	if out, err := child.CombinedOutput(); err == nil || strings.Contains(string(out), "FAIL") {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	whole, resumed := newLogistic(), newLogistic()
	want, err := fit(whole, filepath.Join(t.TempDir(), "whole")).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := fit(resumed, path)
	f.Resume = path
	first := 0
	f.OnEpoch = func(e train.Epoch) {
		if first == 0 {
			first = e.N
		}
	}
	got, err := f.Run(t.Context())
	if err != nil || first != 31 {
		t.Fatalf("resumed at epoch %d, error %v", first, err)
	}
	if !slices.Equal(values(resumed), values(whole)) || !slices.Equal(epochs(got), epochs(want)) {
		t.Error("the resumed run ends in another state")
	}
}

// TestResumeOver: a run that is over has nothing to do, and gives its best state
// back.
func TestResumeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	m := newLogistic()
	f := newFit(m)
	f.Checkpoint, f.Patience, f.Epochs, f.Optimiser = path, 5, 100, &train.Adam{LR: 1}
	h, err := f.Run(t.Context())
	if err != nil || len(h.Epochs) == 100 {
		t.Fatalf("%d epochs, error %v", len(h.Epochs), err)
	}
	again := newLogistic()
	f = newFit(again)
	f.Resume, f.Patience, f.Epochs = path, 5, 100
	f.OnEpoch = func(e train.Epoch) { t.Errorf("epoch %d was run", e.N) }
	if _, err := f.Run(t.Context()); err != nil || !slices.Equal(values(again), values(m)) {
		t.Errorf("the state differs, or error %v", err)
	}
	last := newLogistic() // as a model, the file is the state of the last step
	if err := train.Load(path, last); err != nil || slices.Equal(values(last), values(m)) {
		t.Errorf("loaded as a model: error %v", err)
	}
}

// TestCheckpointLoop resumes a loop of its own: shuffled batches, no Fit.
func TestCheckpointLoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	x, labels := blobs(60)
	begin := func() (*train.Checkpoint, *logistic, *rand.PCG) {
		m, source := newLogistic(), rand.NewPCG(8, 9)
		return &train.Checkpoint{
			Model: m, Optimiser: &train.NAdam{LR: 0.02}, Tape: grad.NewTape(3), Average: train.NewEMA(m, 0.9), RNG: source,
		}, m, source
	}
	steps := func(c *train.Checkpoint, m *logistic, source *rand.PCG, until uint64) {
		rng := rand.New(source)
		for c.Tape.Step() < until {
			rows := rowsTo(0, 60)
			rng.Shuffle(60, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			picked := make([]int32, 10)
			for i, r := range rows[:10] {
				picked[i] = labels[r]
			}
			c.Tape.Reset()
			c.Optimiser.Step(c.Tape.Backward(m.forward(c.Tape, x).Rows(rows[:10]).CrossEntropy(picked)))
			c.Average.Update()
		}
		c.Average.Swap()
	}
	c, whole, source := begin()
	steps(c, whole, source, 40)

	c, m, source := begin()
	steps(c, m, source, 15)
	if err := c.Save(path); err == nil || !strings.Contains(err.Error(), "Swap") {
		t.Errorf("a checkpoint of the average: error is %v", err)
	}
	c.Average.Swap()
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	c, m, source = begin()
	if err := c.Load(path); err != nil {
		t.Fatal(err)
	}
	steps(c, m, source, 40)
	if !slices.Equal(values(m), values(whole)) {
		t.Error("the resumed loop ends in another state")
	}
}

// saved writes the checkpoint of five epochs.
func saved(t testing.TB, change func(*train.Fit)) string {
	t.Helper()
	f := newFit(newLogistic())
	f.Epochs, f.Checkpoint = 5, filepath.Join(t.TempDir(), "planted")
	if change != nil {
		change(f)
	}
	if _, err := f.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return f.Checkpoint
}

// replant changes the tensors and the metadata of a checkpoint.
func replant(t *testing.T, change func(tensors []safetensors.Tensor, metadata map[string]string) []safetensors.Tensor) string {
	t.Helper()
	tensors, metadata, err := readTensors(saved(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return put(t, metadata, change(tensors, metadata)...)
}

// edit replaces a piece of the run's JSON.
func edit(t *testing.T, old, new string) string {
	return replant(t, func(tensors []safetensors.Tensor, metadata map[string]string) []safetensors.Tensor {
		if !strings.Contains(metadata["run"], old) {
			t.Fatalf("no %s in %s", old, metadata["run"])
		}
		metadata["run"] = strings.Replace(metadata["run"], old, new, 1)
		return tensors
	})
}

// only keeps one tensor of a name out, or changes it.
func only(t *testing.T, name string, change func(*safetensors.Tensor) bool) string {
	return replant(t, func(tensors []safetensors.Tensor, _ map[string]string) []safetensors.Tensor {
		i := slices.IndexFunc(tensors, func(s safetensors.Tensor) bool { return s.Name == name })
		if !change(&tensors[i]) {
			tensors = slices.Delete(tensors, i, i+1)
		}
		return tensors
	})
}

// TestResumeRefuses checks the messages, and that nothing of a file that does
// not fit is loaded.
func TestResumeRefuses(t *testing.T) {
	wide := &logistic{In: 2, Classes: 3}
	other := filepath.Join(t.TempDir(), "other")
	opt := &train.Adam{}
	if err := (&train.Checkpoint{Model: wide.init(rand.New(rand.NewPCG(1, 1))), Optimiser: opt, Tape: grad.NewTape(7)}).Save(other); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model")
	if err := train.Save(model, newLogistic()); err != nil {
		t.Fatal(err)
	}
	turned := func(s *safetensors.Tensor) bool { s.Shape = []int{4}; return true }
	gone := func(*safetensors.Tensor) bool { return false }
	for _, c := range []struct {
		name, path string
		change     func(*train.Fit)
		want       []string
	}{
		{"another model", other, nil, []string{"W is [2 3] in the file and [2 2] in the run", "B is [3] in the file and [2] in the run", "missing in the file: "}},
		{"a saved model", model, nil, []string{`no "run"`, "no checkpoint"}},
		{"no file", filepath.Join(t.TempDir(), "absent"), nil, []string{"absent"}},
		{"another optimiser", saved(t, nil), func(f *train.Fit) { f.Optimiser = &train.RMSprop{LR: 1} }, []string{"planted", "is Adam in the file and RMSprop in the program"}},
		{"other arrays", saved(t, func(f *train.Fit) { f.Optimiser = &train.SGD{LR: 1, Momentum: 0.5} }), func(f *train.Fit) { f.Optimiser = &train.SGD{LR: 1} }, []string{"not in the run: opt/B/momentum, opt/W/momentum"}},
		{"missing array", only(t, "opt/W/v", gone), nil, []string{"missing in the file: opt/W/v"}},
		{"missing Param", only(t, "Mean", gone), nil, []string{"missing in the file: Mean"}},
		{"missing best", only(t, "best/W", gone), nil, []string{"missing in the file: best/W"}},
		{"array of another shape", only(t, "opt/W/m", turned), nil, []string{"opt/W/m is [4] in the file and [2 2] in the run"}},
		{"array of no Param", only(t, "opt/W/m", func(s *safetensors.Tensor) bool { s.Name = "opt/Q/m"; return true }), nil, []string{"not in the run: opt/Q/m", "missing in the file: opt/W/m"}},
		{"another seed", saved(t, func(f *train.Fit) { f.Seed = 8 }), nil, []string{"seed is 8 and Fit.Seed is 7"}},
		{"another rule", edit(t, `"best":[1`, `"best":[2`), nil, []string{"epoch 1 was chosen or passed over by another rule"}},
		{"an average", saved(t, func(f *train.Fit) { f.Average = 0.5 }), nil, []string{"the state of a moving average, and the program has none"}},
		{"no average", saved(t, nil), func(f *train.Fit) { f.Average = 0.5 }, []string{"the program has a moving average"}},
		{"no Plateau", saved(t, nil), func(f *train.Fit) { f.Optimiser = &train.Adam{LR: 0.05, Schedule: &train.Plateau{}} }, []string{"the program has a Plateau"}},
		{"no tape", edit(t, `"seed":7,`, ``), nil, []string{"the program has a tape"}},
		{"unknown Param", edit(t, `"W":{`, `"Q":{`), nil, []string{"its optimiser knows Params that the model has not: Q"}},
		{"broken JSON", edit(t, `"history"`, `history`), nil, []string{"planted", `metadata "run"`}},
		{"steps before the first", edit(t, `"W":{"steps":5`, `"W":{"steps":0`), nil, []string{"the number of steps of W is 0"}},
		{"steps after the last", edit(t, `"W":{"steps":5`, `"W":{"steps":6`), nil, []string{"the number of steps of W is 6"}},
		{"a best epoch to come", edit(t, `"best":[`, `"best":[6,`), nil, []string{"a best epoch is 6"}},
		{"a short epoch", edit(t, `"epochs":[[`, `"epochs":[[],[`), nil, []string{"an epoch has 1 numbers, want 9"}},
		{"a word for a number", edit(t, `"epochs":[[`, `"epochs":[["much",`), nil, []string{`"much" is not a number`}},
	} {
		m, untouched := newLogistic(), newLogistic()
		f := newFit(m)
		f.Resume = c.path
		if c.change != nil {
			c.change(f)
		}
		_, err := f.Run(t.Context())
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v does not say %q", c.name, err, want)
			}
		}
		if !slices.Equal(values(m), values(untouched)) {
			t.Errorf("%s: the model was changed all the same", c.name)
		}
	}
}

// TestResumeRefusedChangesNothing goes on with an optimiser that refused a file.
func TestResumeRefusedChangesNothing(t *testing.T) {
	m, same := newLogistic(), newLogistic()
	f, g := newFit(m), newFit(same)
	for _, x := range []*train.Fit{f, g} {
		if _, err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.Resume = only(t, "best/B", func(*safetensors.Tensor) bool { return false })
	if _, err := f.Run(t.Context()); err == nil {
		t.Fatal("no error")
	}
	f.Resume = ""
	for _, x := range []*train.Fit{f, g} {
		if _, err := x.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(values(m), values(same)) {
		t.Error("the refused file left something behind")
	}
}

// gradsOf returns gradients that are the same number everywhere, of pairs of a
// Param and a number.
func gradsOf(pairs ...any) grad.Grads {
	var gs grad.Grads
	for i := 0; i < len(pairs); i += 2 {
		p := pairs[i].(*grad.Param)
		g := p.Value.Like()
		g.Fill(tensor.Float(pairs[i+1].(int)))
		gs = append(gs, grad.Grad{Param: p, Value: g})
	}
	return gs
}

func TestCheckpointCut(t *testing.T) {
	path := saved(t, nil)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &train.Checkpoint{Model: newLogistic(), Optimiser: &train.Adam{}, Tape: grad.NewTape(0)}
	if err := c.Load(path); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 61 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("cut to %d of %d bytes: error %v", n, len(whole), err)
		}
	}
}

func TestCheckpointRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	m := newLogistic()
	two := &train.Adam{LR: 1}
	two.Step(gradsOf(m.W, 1, grad.NewParam(3), 1))
	for want, c := range map[string]*train.Checkpoint{
		"*train_test.counter cannot be saved":    {Model: m, Optimiser: &counter{}},
		"Init called":                            {Model: &logistic{}, Optimiser: &train.Adam{}},
		"remembers 2 Params, of which the model": {Model: m, Optimiser: two},
	} {
		if err := c.Save(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v", want, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a file all the same", want)
		}
	}
}

// TestFitDivergesAfterCheckpoint: what was saved before stays, and the error
// names it.
func TestFitDivergesAfterCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	m := newLogistic()
	f := newFit(m)
	f.Checkpoint, f.Every = path, 3
	f.Optimiser = &train.SGD{LR: 1, Schedule: train.ScheduleFunc(func(step int) float64 {
		if step == 6 {
			return math.Inf(1)
		}
		return 1e-3
	})}
	h, err := f.Run(t.Context())
	var d *train.DivergedError
	if !errors.As(err, &d) || d.Epoch != 8 || d.What != "the loss" || d.Saved != path || d.Op == "" && finds() {
		t.Fatalf("error %v, %+v", err, d)
	}
	best, _ := h.Best()
	if d.Good != best.N || !strings.Contains(err.Error(), path) {
		t.Errorf("the best epoch is %d; error %v", best.N, err)
	}
	back := newLogistic()
	c := &train.Checkpoint{Model: back, Optimiser: &train.SGD{}, Tape: grad.NewTape(0), History: &train.History{}}
	if err := c.Load(path); err != nil || len(c.History.Epochs) != 6 {
		t.Errorf("the file has %d epochs, error %v", len(c.History.Epochs), err)
	}
}

// finds reports whether this version's tape can tell which operation made a NaN.
func finds() bool {
	_, ok := any(grad.NewTape(0)).(interface{ FirstNonFinite() (string, bool) })
	return ok
}

// TestCheckpointOfNaN: a state that is no good does not take the place of one
// that is.
func TestCheckpointOfNaN(t *testing.T) {
	path := saved(t, nil)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := newFit(newLogistic())
	f.Checkpoint, f.Epochs, f.Optimiser = path, 2, &train.SGD{LR: 10, Schedule: train.Exponential{Gamma: math.MaxFloat64}}
	_, err = f.Run(t.Context())
	var d *train.DivergedError
	if !errors.As(err, &d) || d.Param == "" || !strings.Contains(err.Error(), "after the step") {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file was written over")
	}
}

// TestHistoryInCheckpoint: numbers that JSON does not know come back.
func TestHistoryInCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	h := &train.History{Epochs: []train.Epoch{
		{N: 1, Loss: math.Inf(1), Scores: train.Scores{Val: train.Score{Loss: math.Inf(-1), Accuracy: 0.1}}, Best: true},
		{N: 2, Loss: math.Copysign(0, -1), Rate: 1.0 / 3, Norm: math.SmallestNonzeroFloat64, Scores: train.Scores{Test: train.Score{Loss: math.MaxFloat64}}},
	}}
	m := newLogistic()
	if err := (&train.Checkpoint{Model: m, Optimiser: &train.Adam{}, History: h}).Save(path); err != nil {
		t.Fatal(err)
	}
	back := &train.History{}
	if err := (&train.Checkpoint{Model: m, Optimiser: &train.Adam{}, History: back}).Load(path); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Epochs, h.Epochs) || !math.Signbit(back.Epochs[1].Loss) {
		t.Errorf("came back as %+v", back.Epochs)
	}
	h.Epochs[0].Train.Accuracy = math.NaN()
	if err := (&train.Checkpoint{Model: m, Optimiser: &train.Adam{}, History: h}).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := (&train.Checkpoint{Model: m, Optimiser: &train.Adam{}, History: back}).Load(path); err != nil || !math.IsNaN(back.Epochs[0].Train.Accuracy) {
		t.Errorf("NaN came back as %v, error %v", back.Epochs[0].Train.Accuracy, err)
	}
}

// broken is a random source that fails.
type broken struct{ *rand.PCG }

func (broken) MarshalBinary() ([]byte, error) { return nil, errors.New("no state today") }

func TestCheckpointRandomSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	m := newLogistic()
	type state interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	with := func(source state) *train.Checkpoint {
		return &train.Checkpoint{Model: m, Optimiser: &train.Adam{}, RNG: source}
	}
	if err := with(broken{}).Save(path); err == nil || !strings.Contains(err.Error(), "no state today") {
		t.Errorf("error is %v", err)
	}
	if err := with(rand.NewPCG(1, 2)).Save(path); err != nil {
		t.Fatal(err)
	}
	m.W.Value.Fill(5)
	if err := with(rand.NewChaCha8([32]byte{})).Load(path); err == nil || !strings.Contains(err.Error(), "the random source: ") || m.W.Value.Data[0] != 5 {
		t.Errorf("a source of another kind: error is %v", err)
	}
	if err := with(nil).Load(path); err == nil || !strings.Contains(err.Error(), "the state of a random source, and the program has none") {
		t.Errorf("no source: error is %v", err)
	}
}

// TestFitWatched names what has a gradient and no Param.
func TestFitWatched(t *testing.T) {
	f, p := scripted(make([]train.Score, 2))
	f.Loss = func(t *grad.Tape) *grad.Var {
		return t.Use(p.P).Sum().Add(t.Watch(tensor.New(1)).Sqrt().Sum())
	}
	_, err := f.Run(t.Context())
	var d *train.DivergedError
	if !errors.As(err, &d) || d.Param != "" || !strings.Contains(d.What, "watched") {
		t.Errorf("error is %v", err)
	}
}

func TestCheckpointUnwritable(t *testing.T) {
	c := &train.Checkpoint{Model: newLogistic(), Optimiser: &train.Adam{}}
	for _, path := range []string{filepath.Join(t.TempDir(), "no", "file"), filepath.Join(os.DevNull, "file"), t.TempDir()} {
		if err := c.Save(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

// FuzzRun puts any JSON where a checkpoint describes its run: it is refused or
// taken, and if taken the run goes on.
func FuzzRun(f *testing.F) {
	tensors, metadata, err := readTensors(saved(f, nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(metadata["run"])
	for _, s := range []string{`{}`, `null`, `[]`, `{"params":{"W":{}}}`, `{"optimiser":"Adam","plateau":{"begun":true}}`, `{"history":{"epochs":null,"best":[1]}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, run string) {
		if !utf8.ValidString(run) {
			t.Skip()
		}
		path := put(t, map[string]string{"run": run}, tensors...)
		fit := newFit(newLogistic())
		fit.Resume, fit.Epochs = path, 7
		h, err := fit.Run(t.Context())
		if err != nil && !strings.Contains(err.Error(), path) && !errors.As(err, new(*train.DivergedError)) {
			t.Errorf("the error does not name the file: %v", err)
		}
		if err == nil && len(h.Epochs) < 7 {
			t.Errorf("%d epochs", len(h.Epochs))
		}
	})
}
