package train_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// lion is an optimiser of a user's own, which steps by signs (Chen and others, 2023).
type lion struct {
	LR float64

	paths map[*grad.Param]string
	state train.OptimiserState
	fail  error
}

func (o *lion) Bind(model any) error {
	o.paths = map[*grad.Param]string{}
	for path, p := range grad.Params(model) {
		o.paths[p] = path
	}
	return nil
}

func (o *lion) Step(gs grad.Grads) {
	if o.state.Arrays == nil {
		o.state.Arrays, o.state.Numbers = map[string]map[string][]tensor.Float{}, map[string]float64{}
	}
	o.state.Steps++
	for _, g := range gs {
		if g.Param == nil || g.Param.Frozen {
			continue
		}
		path := o.paths[g.Param]
		if o.state.Arrays[path] == nil {
			o.state.Arrays[path] = map[string][]tensor.Float{"m": make([]tensor.Float, len(g.Value.Data))}
		}
		m := o.state.Arrays[path]["m"]
		for i, v := range g.Value.Data {
			c := 0.9*m[i] + 0.1*v
			g.Param.Value.Data[i] -= tensor.Float(o.LR) * tensor.Float(math.Copysign(1, float64(c)))
			m[i] = 0.99*m[i] + 0.01*v
		}
	}
	o.state.Numbers["last"] = math.Sqrt(float64(o.state.Steps))
	o.state.Numbers["none"] = math.NaN()
}

func (o *lion) State() train.OptimiserState { return o.state }

func (o *lion) SetState(s train.OptimiserState) error {
	if o.fail == nil {
		o.state = s
	}
	return o.fail
}

// A run with an optimiser of one's own goes on from its checkpoint to the same bits.
func TestResumeOwnOptimiser(t *testing.T) {
	halves(t, func(m *logistic) *train.Fit {
		f := newFit(m)
		f.Epochs, f.Average, f.Norms = 200, 0.9, true
		f.Optimiser = &lion{LR: 0.01}
		return f
	})
}

func TestOwnOptimiserCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	trained := func() (*logistic, *lion) {
		m, o := newLogistic(), &lion{LR: 0.01}
		f := newFit(m)
		f.Epochs, f.Optimiser = 3, o
		if _, err := f.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m, o
	}
	m, o := trained()
	if err := (&train.Checkpoint{Model: m, Optimiser: o}).Save(path); err != nil {
		t.Fatal(err)
	}
	fresh, back := newLogistic(), &lion{}
	if err := (&train.Checkpoint{Model: fresh, Optimiser: back}).Load(path); err != nil {
		t.Fatal(err)
	}
	s := back.state
	if s.Steps != 3 || s.Numbers["last"] != math.Sqrt(3) || !math.IsNaN(s.Numbers["none"]) || len(s.Arrays) != 2 || !slices.Equal(s.Arrays["W"]["m"], o.state.Arrays["W"]["m"]) {
		t.Errorf("came back as %+v, want %+v", s, o.state)
	}

	load := func(opt train.Optimiser) error {
		return (&train.Checkpoint{Model: newLogistic(), Optimiser: opt}).Load(path)
	}
	save := func(change func(s *train.OptimiserState)) error {
		m, o := trained()
		change(&o.state)
		return (&train.Checkpoint{Model: m, Optimiser: o}).Save(filepath.Join(t.TempDir(), "other"))
	}
	for want, err := range map[string]error{
		"optimiser is *train_test.lion in the file and Adam": load(&train.Adam{LR: 1}),
		"not today":                   load(&lion{fail: errors.New("not today")}),
		"methods of train.Stateful":   load(&counter{}),
		`Param "Q" that the model`:    save(func(s *train.OptimiserState) { s.Arrays["Q"] = s.Arrays["W"] }),
		"has 3 elements, the Param 4": save(func(s *train.OptimiserState) { s.Arrays["W"]["m"] = make([]tensor.Float, 3) }),
		"and no slash":                save(func(s *train.OptimiserState) { s.Arrays["W"]["a/b"] = s.Arrays["W"]["m"] }),
		"the number of steps is -1":   saveAndLoad(t, m, func(s *train.OptimiserState) { s.Steps = -1 }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := (&train.Checkpoint{Model: newLogistic(), Optimiser: &train.Adam{LR: 1}}).Save(path); err != nil {
		t.Fatal(err)
	}
	if err := load(&lion{}); err == nil || !strings.Contains(err.Error(), "optimiser is Adam in the file") {
		t.Errorf("got %v", err)
	}
}

// saveAndLoad writes a lion's state and reads it back.
func saveAndLoad(t *testing.T, m *logistic, change func(s *train.OptimiserState)) error {
	path, o := filepath.Join(t.TempDir(), "file"), &lion{}
	change(&o.state)
	if err := (&train.Checkpoint{Model: m, Optimiser: o}).Save(path); err != nil {
		t.Fatal(err)
	}
	return (&train.Checkpoint{Model: m, Optimiser: o}).Load(path)
}

// A state that the optimiser refuses changes nothing, the random source neither.
func TestOwnOptimiserRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	m, o := newLogistic(), &lion{LR: 1}
	if err := (&train.Checkpoint{Model: m, Optimiser: o, RNG: rand.NewPCG(1, 2)}).Save(path); err != nil {
		t.Fatal(err)
	}
	m.W.Value.Fill(7)
	rng := rand.NewPCG(5, 6)
	before, _ := rng.MarshalBinary()
	o.fail = errors.New("not today")
	if err := (&train.Checkpoint{Model: m, Optimiser: o, RNG: rng}).Load(path); !errors.Is(err, o.fail) {
		t.Errorf("got %v", err)
	}
	if after, _ := rng.MarshalBinary(); !bytes.Equal(before, after) || m.W.Value.Data[0] != 7 {
		t.Error("the refused file changed the model or the random source")
	}
}

// The norm of each step is what Grads.Norm says before clipping, and the History has
// the last and the largest of an epoch; they are in a checkpoint, and a file
// without them is read as before.
func TestNorms(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, change func(*train.Fit)) (*train.History, []byte) {
		f := inSteps(newLogistic())
		f.Epochs, f.Checkpoint = 3, filepath.Join(dir, name)
		change(f)
		h, err := f.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		return h, b
	}
	var steps []train.Step
	_, bare := run("bare", func(*train.Fit) {})
	_, hooked := run("hooked", func(f *train.Fit) { f.OnStep = func(s train.Step) { steps = append(steps, s) } })
	if !bytes.Equal(bare, hooked) || bytes.Contains(bare, []byte("norms")) {
		t.Error("a hook changes the checkpoint, or one without norms has some")
	}
	logged, _ := run("logged", func(f *train.Fit) { f.Norms = true })
	if len(steps) != 12 {
		t.Fatalf("the hook was called %d times, want 12", len(steps))
	}

	m := newLogistic()
	loop, tape, opt := inSteps(m), grad.NewTape(7), &train.Adam{LR: 0.05}
	for i, s := range steps {
		tape.Reset()
		loss := loop.Loss(tape)
		grads := tape.Backward(loss)
		want := train.Step{Epoch: i/4 + 1, N: i + 1, Loss: float64(loss.Value().Data[0]), Rate: 0.05, Norm: grads.Norm()}
		if s != want || s.Norm == 0 {
			t.Errorf("step %d is %+v, want %+v", i+1, s, want)
		}
		opt.Step(grads)
	}
	for i, e := range logged.Epochs {
		most := 0.0
		for _, s := range steps[4*i : 4*i+4] {
			most = max(most, s.Norm)
		}
		if e.Norm != steps[4*i+3].Norm || e.MaxNorm != most {
			t.Errorf("epoch %d: norm %v, the largest %v; want %v and %v", i+1, e.Norm, e.MaxNorm, steps[4*i+3].Norm, most)
		}
	}

	back := &train.History{}
	tape.Restart(7)
	c := &train.Checkpoint{Model: m, Optimiser: opt, Tape: tape, History: back}
	if err := c.Load(filepath.Join(dir, "logged")); err != nil {
		t.Fatal(err)
	}
	for i, e := range back.Epochs {
		if e.Norm != logged.Epochs[i].Norm || e.MaxNorm != logged.Epochs[i].MaxNorm || e.MaxNorm == 0 {
			t.Errorf("epoch %d came back as %+v, was %+v", i+1, e, logged.Epochs[i])
		}
	}
	if err := c.Load(filepath.Join(dir, "bare")); err != nil || back.Epochs[2].MaxNorm != 0 {
		t.Errorf("a file without norms: %v, %v", err, back.Epochs)
	}
}
