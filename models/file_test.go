package models_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/internal/streamtest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func read(b []byte) (*models.Trained, error) {
	p, err := models.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return p.Trained, nil
}

// small returns a model and its file.
func small(t *testing.T) (*models.Trained, []byte) {
	t.Helper()
	p := trained(t, newShop(2, 40).raw(false), models.GAT{Hidden: 2, Heads: 1}, models.Preparation{Features: columns.Scaling{Form: columns.Standard}}, columns.Roles{})
	p.Scores = map[string]map[string]float64{"test": {"accuracy": 0.75}}
	p.Recipe = json.RawMessage(`{"Epochs":3,"Note":"\"checksum\":\""}`)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return p.Trained, b.Bytes()
}

func TestModelFile(t *testing.T) {
	m, file := small(t)
	got, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Schema, m.Schema) || !reflect.DeepEqual(got.Preparation, m.Preparation) || !reflect.DeepEqual(got.Scores, m.Scores) || string(got.Recipe) != string(m.Recipe) || got.Task != models.Nodes {
		t.Errorf("read %+v, want %+v", got, m)
	}
	if g := got.Goal; g.Kind != columns.OneClass || strings.Join(g.Names, " ") != "no yes" {
		t.Errorf("it learns %+v", g)
	}
	if again := streamtest.Writes(t, got.Write); !bytes.Equal(again, file) {
		t.Error("written again it has other bytes")
	}
	streamtest.ReadsAt(t, file, models.Read)
	tensors, _, err := safetensors.Read(bytes.NewReader(file), int64(len(file))) // as other programs read weights
	if err != nil || len(tensors) == 0 {
		t.Fatalf("%d tensors, error %v", len(tensors), err)
	}
	for name, p := range grad.Params(m.Net) {
		found := false
		for _, x := range tensors {
			found = found || x.Name == name && reflect.DeepEqual(x.Shape, p.Value.Shape())
		}
		if !found {
			t.Errorf("the file has no %s", name)
		}
	}
}

// Running statistics and the linear parts are in the file, and what it answers is what the network answered.
func TestModelFileOfDeep(t *testing.T) {
	raw := newShop(2, 40).raw(false)
	m := models.GCN{Hidden: 4, Layers: 3, Norm: models.NormBatch, ResidualLinear: true, Input: 3, Output: true}
	p := trained(t, raw, m, models.Preparation{Features: columns.Scaling{Form: columns.Standard}}, columns.Roles{})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	values, moved := map[string]*tensor.Dense{}, 0
	for name, q := range grad.Params(got.Net) {
		values[name] = q.Value
	}
	for name, q := range grad.Params(p.Net) {
		if !reflect.DeepEqual(values[name], q.Value) {
			t.Errorf("%s is %v, want %v", name, values[name], q.Value)
		}
		if strings.HasSuffix(name, ".Norm.Mean") && q.Value.Data[0] != 0 {
			moved++
		}
	}
	if moved != 3 {
		t.Errorf("%d of 3 norms have moved", moved)
	}
	_, file := small(t)
	for text, says := range map[string]string{`"Norm":"group"`: "there is no such name", `"Input":268435456`: "at most 65536", `"Input":65536,"Output":true`: "more than its"} {
		change := func(md map[string]string) {
			md["network"] = strings.Replace(md["network"], `"Settings":{`, `"Settings":{`+text+`,`, 1)
		}
		if _, err := read(rewritten(t, file, change)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want one with %q", text, err, says)
		}
	}
}

// Each bit counts: of the header every byte is changed, and of the weights some.
func TestFlippedBits(t *testing.T) {
	_, file := small(t)
	head := 8 + int(binary.LittleEndian.Uint64(file))
	rng := rand.New(rand.NewPCG(1, 1))
	flip := func(at, bit int) {
		file[at] ^= 1 << bit
		if m, err := read(file); err == nil {
			t.Errorf("bit %d of byte %d of %d is another, and the file is read: %+v", bit, at, len(file), m)
		} else if text := err.Error(); len(text) > 600 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			t.Errorf("bit %d of byte %d: %q", bit, at, text)
		}
		file[at] ^= 1 << bit
	}
	for at := range head {
		flip(at, rng.IntN(8))
	}
	for range 200 {
		flip(head+rng.IntN(len(file)-head), rng.IntN(8))
	}
	for _, size := range []int{0, 7, 8, 100, head - 1, head, head + 1, len(file) - 1} {
		if _, err := read(file[:size]); err == nil {
			t.Errorf("cut after %d of %d bytes it is read", size, len(file))
		} else if !strings.Contains(err.Error(), "cut short") {
			t.Errorf("cut after %d bytes: %v", size, err)
		}
	}
	if _, err := read(append(file, 0)); err == nil {
		t.Error("with a byte more it is read")
	}
}

// changed returns a file that says other things of its model, with a checksum of its own.
func changed(t *testing.T, m *models.Trained, change func(m *models.Trained)) ([]byte, error) {
	t.Helper()
	own := *m
	goal, prep := *m.Goal, m.Preparation
	own.Goal, own.Preparation, own.Schema = &goal, prep, m.Schema.Clone()
	change(&own)
	var b bytes.Buffer
	err := own.Write(&b)
	return b.Bytes(), err
}

// What a file says of its model has to fit: nothing that could not be read is written.
func TestModelsThatLie(t *testing.T) {
	m, _ := small(t)
	for says, change := range map[string]func(m *models.Trained){
		"what is learnt is said: false": func(m *models.Trained) { m.Goal = nil },
		"and 3 are learnt":              func(m *models.Trained) { m.Goal.Outputs, m.Goal.Names, m.Goal.Positive = 3, nil, 0 },
		"which are of two classes":      func(m *models.Trained) { m.Goal.Outputs, m.Goal.Names, m.Goal.Threshold = 3, nil, 0.5 },
		"its positive class is 2":       func(m *models.Trained) { m.Goal.Positive = 2 },
		"its threshold is NaN":          func(m *models.Trained) { m.Goal.Threshold = math.NaN() },
		"its threshold is 1.5":          func(m *models.Trained) { m.Goal.Threshold = 1.5 },
		`there is no metric "luck"`:     func(m *models.Trained) { m.Goal.Metric = "luck" },
		"weights of 1 classes":          func(m *models.Trained) { m.Goal.Weights = []float64{1} },
		"the weight of class 1 is -1":   func(m *models.Trained) { m.Goal.Weights = []float64{1, -1} },
		"add up to 0":                   func(m *models.Trained) { m.Goal.Weights = []float64{0, 0} },
		"2 outputs and 1 names":         func(m *models.Trained) { m.Goal.Names = m.Goal.Names[:1] },
		"is nothing that is learnt":     func(m *models.Trained) { m.Goal.Kind = "luck" },
		"each edge is learnt":           func(m *models.Trained) { m.Goal.Of = "edge" },
		"a head of edges: false":        func(m *models.Trained) { m.Task, m.Goal.Of = models.Edges, "edge" },
		"a network of another task":     func(m *models.Trained) { m.Task, m.Goal.Of = models.Graphs, "graph" },
		"scales of 3 features": func(m *models.Trained) {
			m.Preparation.Features.Mean = m.Preparation.Features.Mean[:3]
			m.Preparation.Features.Dev = m.Preparation.Features.Dev[:3]
		},
		"is no form of features": func(m *models.Trained) { m.Preparation.Features = columns.Scaling{Form: "tidy"} },
		"has the mean NaN": func(m *models.Trained) {
			m.Preparation.Features.Mean = append([]float64{math.NaN()}, m.Preparation.Features.Mean[1:]...)
		},
		"there is no such name":        func(m *models.Trained) { m.Preparation.Encoding = "pagerang" },
		"it is a guess, and has words": func(m *models.Trained) { m.Schema.Nodes[0].Columns[0].As = "guess" },
		"it has no network":            func(m *models.Trained) { m.Net = nil },
		"Layers 1000: there can be":    func(m *models.Trained) { n := *m.Net.(*models.Network); n.Settings.Layers = 1000; m.Net = &n },
	} {
		if _, err := changed(t, m, change); err == nil {
			t.Errorf("%s: it was written", says)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
	net := m.Net.(*models.Network)
	for _, p := range grad.Params(net) {
		p.Value.Data[0] = tensor.Float(math.Inf(1))
		break
	}
	if _, err := changed(t, m, func(*models.Trained) {}); err == nil || !strings.Contains(err.Error(), "its training diverged") {
		t.Errorf("an infinite weight: error %v", err)
	}
}

// rewritten returns a file whose metadata are others, with a checksum that fits.
func rewritten(t *testing.T, file []byte, change func(metadata map[string]string)) []byte {
	t.Helper()
	tensors, metadata, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	change(metadata)
	return models.Sealed(t, tensors, metadata)
}

func TestOtherFiles(t *testing.T) {
	m, file := small(t)
	grow := func(from, to string) func(map[string]string) {
		return func(md map[string]string) { md["network"] = strings.Replace(md["network"], from, to, 1) }
	}
	for says, change := range map[string]func(metadata map[string]string){
		"version \"2\", and this program":    func(md map[string]string) { md["version"] = "2" },
		"the format \"other\"":               func(md map[string]string) { md["format"] = "other" },
		"the task \"guess\"":                 func(md map[string]string) { md["task"] = "guess" },
		"more than its":                      grow(`"Hidden":2`, `"Hidden":60000`),
		"the file is not of this network":    grow(`"Hidden":2`, `"Hidden":3`),
		"Layers 70000: there can be at most": grow(`"Layers":2`, `"Layers":70000`),
		"there is no model \"gut\"":          grow(`"Model":"gat"`, `"Model":"gut"`),
		"the metadata \"schema\"":            func(md map[string]string) { md["schema"] = "{" },
		"the metadata \"goal\"":              func(md map[string]string) { md["goal"] = `{"luck":1}` },
		"the metadata \"preparation\"":       func(md map[string]string) { delete(md, "preparation") },
		"the metadata \"recipe\"":            func(md map[string]string) { md["recipe"] = "[" },
	} {
		if _, err := read(rewritten(t, file, change)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
	dir := t.TempDir()
	params, checkpoint := filepath.Join(dir, "params"), filepath.Join(dir, "checkpoint")
	if err := train.Save(params, m.Net); err != nil {
		t.Fatal(err)
	}
	opt := &train.SGD{LR: 1}
	if err := opt.Bind(m.Net); err != nil {
		t.Fatal(err)
	}
	if err := (&train.Checkpoint{Model: m.Net, Optimiser: opt, Tape: grad.NewTape(1)}).Save(checkpoint); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		params: "it has parameters alone", checkpoint: "it is a checkpoint, from which a training goes on, and no model file: write one with gatbench train --resume FILE --save MODEL",
		filepath.Join(dir, "none"): "no such file", dir: "it is a folder",
	} {
		if _, err := models.Load(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one with %q", err, says)
		}
	}
}
