package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/internal/weights"
)

// Task is what a network says something of.
type Task string

// The tasks.
const (
	Nodes  Task = "node"
	Edges  Task = "edge"
	Graphs Task = "graph"
	Links  Task = "link"
	Facts  Task = "fact"
)

// Net is a network as a model file holds it: its JSON says what it is made of, from which Init makes its Params.
type Net interface {
	Check() error
	Init(rng *rand.Rand)
	Numbers() int64 // how many its Params have, at least
}

// Trained is a network that has learnt, with all that it takes to use it: how the columns of tables are read, what becomes of the graph,
// and what its outputs are. Its file is a safetensors file: other programs read its weights.
type Trained struct {
	Task        Task
	Net         Net
	Schema      *columns.Schema // how tables are read; nil of data that are none
	Preparation Preparation     // what becomes of a dataset before the network reads it
	Goal        *Goal           // what is learnt; nil of links and facts
	Learnt      *Learnt         // what those are called that have a row of their own: nodes of LightGCN, entities of facts; else nil

	Scores map[string]map[string]float64 // of each part of the data, such as test, the metrics by their names
	Data   Source                        // what it learnt from
	Recipe json.RawMessage               // how it was trained, as the program that did it says it; empty: nothing is said
}

// Learnt is what those are called that a network has learnt a row for. It knows no others.
type Learnt struct {
	IDs       []string `json:"ids"`
	Users     int      `json:"users,omitempty"`     // the first so many are users, and the others items; 0: any two nodes may be linked
	Relations []string `json:"relations,omitempty"` // of facts
}

// Source says what a network learnt from.
type Source struct {
	Name   string `json:"name,omitempty"`
	Digest string `json:"digest,omitempty"` // sha256 of all that was read
}

// The metadata of a model file.
const (
	formatKey, fileFormat   = "format", "edgewise model"
	versionKey, fileVersion = "version", "1"
	checksumKey             = "checksum" // of the whole file, in which its own digits are zeros
	taskKey                 = "task"
	netKey                  = "network"
	schemaKey               = "schema"
	preparationKey          = "preparation"
	goalKey                 = "goal"
	learntKey               = "rows"
	scoresKey               = "scores"
	sourceKey               = "data"
	recipeKey               = "recipe"
)

var noChecksum = strings.Repeat("0", 2*sha256.Size)

// Save writes the model file at exactly that path, whole or not at all. The same model gives the same bytes.
func (m *Trained) Save(path string) error {
	if err := atomicfile.Write(path, m.Write); err != nil {
		return fmt.Errorf("models: save: %w", err)
	}
	return nil
}

// Write writes the model file to w.
func (m *Trained) Write(w io.Writer) error {
	metadata, err := m.metadata()
	if err != nil {
		return fmt.Errorf("models: what is to be written cannot be: %w", err)
	}
	places, err := weights.Of(m.Net)
	if err == nil {
		err = finite(places)
	}
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	tensors, sum := weights.Tensors(places), sha256.New()
	metadata[checksumKey] = noChecksum
	if err := safetensors.Write(sum, tensors, metadata); err != nil {
		return err
	}
	metadata[checksumKey] = hex.EncodeToString(sum.Sum(nil))
	return safetensors.Write(w, tensors, metadata)
}

// finite returns an error for a weight that is not a number.
func finite(places []weights.Place) error {
	for _, p := range places {
		for i, v := range p.Data {
			if v-v != 0 {
				return fmt.Errorf("element %d of %s is %v: its training diverged", i, p.Name, v)
			}
		}
	}
	return nil
}

// DigestOf returns the digest of a dataset, without what edges have beside their ends if the network does not read it: that of the data that m
// learnt from is in m.Data, and another one says that they are not the same.
func (m *Trained) DigestOf(d *datasets.Dataset) string {
	if n, is := m.Net.(*LinkNetwork); m.Preparation.Undirected || is && !n.Settings.Directed {
		d = d.Undirected()
	}
	if numbers, kinds := m.readsOfEdges(); !numbers && !kinds {
		own := *d
		own.EdgeFeatures, own.EdgeCodes, own.EdgeKinds = nil, nil, nil
		d = &own
	}
	return d.Digest()
}

// readsOfEdges reports whether the network reads features of edges, and their kinds.
func (m *Trained) readsOfEdges() (numbers, kinds bool) {
	switch n := m.Net.(type) {
	case *Network:
		return n.Shape.EdgeIn > 0 || n.Head != nil && n.Head.Own > 0, n.Shape.EdgeKinds > 0
	case *GraphNetwork:
		return n.Shape.EdgeIn > 0, n.Shape.EdgeKinds > 0
	case *LinkNetwork:
		return false, false
	}
	return true, true
}

// needed returns what is kept of m: how columns of edges are read only if the network reads these, so that data without them can be used.
func (m *Trained) needed() *Trained {
	numbers, kinds := m.readsOfEdges()
	if numbers && kinds || m.Schema == nil {
		return m
	}
	out := *m
	if !numbers {
		out.Preparation.Own, out.Preparation.Edges = 0, columns.Scaling{}
	}
	if !kinds {
		out.Preparation.Kinds = nil
	}
	if numbers || kinds {
		return &out
	}
	out.Schema = m.Schema.Clone()
	for i := range out.Schema.Edges {
		t := &out.Schema.Edges[i]
		for _, c := range t.Columns {
			t.Unread = append(t.Unread, c.Name)
		}
		if t.Kind != "" {
			t.Unread = append(t.Unread, t.Kind)
		}
		t.Columns, t.Kind, t.Kinds = nil, "", nil
	}
	return &out
}

// metadata returns all but the weights and the checksum.
func (m *Trained) metadata() (map[string]string, error) {
	m = m.needed()
	if err := m.check(); err != nil {
		return nil, err
	}
	out := map[string]string{formatKey: fileFormat, versionKey: fileVersion, taskKey: string(m.Task)}
	parts := map[string]any{netKey: m.Net, preparationKey: m.Preparation, scoresKey: m.Scores, sourceKey: m.Data}
	if m.Schema != nil {
		parts[schemaKey] = m.Schema
	}
	if m.Goal != nil {
		parts[goalKey] = m.Goal
	}
	if m.Learnt != nil {
		parts[learntKey] = m.Learnt
	}
	if len(m.Recipe) > 0 {
		parts[recipeKey] = m.Recipe
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		text, err := json.Marshal(parts[key])
		if err != nil {
			return nil, fmt.Errorf("the %s as JSON: %w", key, err)
		}
		out[key] = string(text)
	}
	return out, nil
}

// Read reads the model file of size bytes in r. Nothing in it is taken on trust: its checksum must be that of all its bytes, and what it
// says of its network must fit its size.
func Read(r io.ReaderAt, size int64) (*Predictor, error) {
	m, err := read(r, size)
	if err != nil {
		return nil, err
	}
	return &Predictor{m}, nil
}

func read(r io.ReaderAt, size int64) (*Trained, error) {
	head, err := header(r, size)
	if err != nil {
		return nil, err
	}
	at := bytes.Index(head, []byte(`"`+checksumKey+`":"`))
	if at < 0 {
		return nil, stranger(r, size)
	}
	if err := checkSum(r, size, 8+int64(at+len(checksumKey)+4)); err != nil {
		return nil, err
	}
	tensors, metadata, err := safetensors.Read(r, size)
	if err != nil {
		return nil, err
	}
	switch v := metadata[versionKey]; {
	case metadata[formatKey] != fileFormat:
		return nil, fmt.Errorf("it is no model file: its metadata say the format %.60q, want %q: write one with Save, or gatbench train --save", metadata[formatKey], fileFormat)
	case v != fileVersion:
		return nil, fmt.Errorf("it is a model file of version %.20q, and this program reads version %s: use the program that wrote it, or train the model again", v, fileVersion)
	}
	m, err := open(metadata)
	if err == nil {
		err = Fits(m.Net.Numbers(), size)
	}
	if err == nil {
		err = m.fill(tensors)
	}
	if err != nil {
		return nil, fmt.Errorf("what it says of its model cannot be: %w; train the model again", err)
	}
	return m, nil
}

// header returns the JSON at the beginning of the file.
func header(r io.ReaderAt, size int64) ([]byte, error) {
	var prefix [8]byte
	if size < 8 {
		return nil, fmt.Errorf("it has %d bytes and is no model file, or it is cut short: copy it again", size)
	}
	if _, err := r.ReadAt(prefix[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n > safetensors.MaxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("it is no model file, or it is cut short: its %d bytes do not begin as a model's do: name a file that was written with Save, or by gatbench train --save", size)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, int64(n)), head); err != nil {
		return nil, err
	}
	return head, nil
}

// stranger is the error for a file without a checksum.
func stranger(r io.ReaderAt, size int64) error {
	_, metadata, err := safetensors.Read(r, size)
	if err != nil {
		return fmt.Errorf("it is no model file: %w", err)
	}
	_, run := metadata["run"]
	_, model := metadata["model"]
	switch own := metadata[formatKey] == "edgewise"; {
	case own && run:
		return errors.New("it is a checkpoint, from which a training goes on, and no model file: write one with gatbench train --resume FILE --save MODEL")
	case own && model:
		return errors.New("it has parameters alone, as train.Save writes them, and does not say how data are read: train the model again with gatbench train --save")
	}
	return errors.New("it is no model file: it has weights alone, and does not say how data are read: write one with Save, or gatbench train --save")
}

// checkSum compares the checksum, whose digits begin at that byte, with that of the file.
func checkSum(r io.ReaderAt, size, at int64) error {
	digits := int64(len(noChecksum))
	if at+digits > size {
		return errors.New("its checksum is cut short: copy the file again")
	}
	said := make([]byte, digits)
	if _, err := io.ReadFull(io.NewSectionReader(r, at, digits), said); err != nil {
		return err
	}
	sum := sha256.New()
	for _, part := range []io.Reader{io.NewSectionReader(r, 0, at), strings.NewReader(noChecksum), io.NewSectionReader(r, at+digits, size-at-digits)} {
		if _, err := io.Copy(sum, part); err != nil {
			return err
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != string(said) {
		return fmt.Errorf("it is damaged or cut short: its checksum is %.8s… and that of its %d bytes is %.8s…: copy it again, or train the model again", plainDigits(said), size, got)
	}
	return nil
}

// plainDigits is what stands for a checksum, harmless to a terminal.
func plainDigits(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(b))
}

// open returns the model that metadata describe, whose Params are not made.
func open(metadata map[string]string) (*Trained, error) {
	m := &Trained{Task: Task(metadata[taskKey])}
	switch m.Task {
	case Nodes, Edges:
		m.Net = new(Network)
	case Graphs:
		m.Net = new(GraphNetwork)
	case Links:
		m.Net = new(LinkNetwork)
	case Facts:
		m.Net = new(FactNetwork)
	default:
		return nil, fmt.Errorf("it is for the task %.20q, and there are %s, %s, %s, %s and %s", m.Task, Nodes, Edges, Graphs, Links, Facts)
	}
	parts := []struct {
		key    string
		into   any
		needed bool
	}{{netKey, m.Net, true}, {preparationKey, &m.Preparation, true}, {sourceKey, &m.Data, true}, {scoresKey, &m.Scores, true}, {schemaKey, &m.Schema, false}, {goalKey, &m.Goal, false}, {learntKey, &m.Learnt, false}}
	for _, p := range parts {
		text, there := metadata[p.key]
		if !there && !p.needed {
			continue
		}
		if err := jsonread.Strict([]byte(text), p.into); err != nil {
			return nil, fmt.Errorf("the metadata %q: %w", p.key, jsonread.What(err))
		}
	}
	if text := metadata[recipeKey]; text != "" {
		if err := jsonread.Check([]byte(text)); err != nil {
			return nil, fmt.Errorf("the metadata %q: %w", recipeKey, jsonread.What(err))
		}
		m.Recipe = json.RawMessage(text)
	}
	return m, m.check()
}

// check returns an error for parts that do not go together.
func (m *Trained) check() error {
	if m.Net == nil {
		return errors.New("it has no network")
	}
	if err := m.Net.Check(); err != nil {
		return err
	}
	if err := m.Preparation.Check(); err != nil {
		return err
	}
	if m.Schema != nil {
		if err := m.Schema.Check(); err != nil {
			return err
		}
	}
	if m.Goal != nil {
		if err := m.Goal.Check(); err != nil {
			return err
		}
	}
	if err := m.Learnt.check(m.Net); err != nil {
		return err
	}
	n, plain := m.Net.(*Network)
	switch learns := m.Task == Nodes || m.Task == Edges || m.Task == Graphs; {
	case learns != (m.Goal != nil):
		return fmt.Errorf("a model of the task %s, and what is learnt is said: %v", m.Task, m.Goal != nil)
	case learns && string(m.Goal.Of) != string(m.Task):
		return fmt.Errorf("it says something of each %s, and each %s is learnt", m.Task, m.Goal.Of)
	case plain != (m.Task == Nodes || m.Task == Edges):
		return fmt.Errorf("a network of another task than %s", m.Task)
	case plain && (n.Head != nil) != (m.Task == Edges):
		return fmt.Errorf("the task %s, and a head of edges: %v", m.Task, n.Head != nil)
	case plain && n.Shape.Out != m.Goal.Outputs:
		return fmt.Errorf("its network gives %d numbers, and %d are learnt", n.Shape.Out, m.Goal.Outputs)
	}
	return nil
}

// check returns an error unless there is a name for each row that a network learns.
func (l *Learnt) check(net Net) error {
	rows, relations := 0, 0
	switch n := net.(type) {
	case *LinkNetwork:
		if n.Model == modelLightGCN {
			rows = n.In
		}
	case *FactNetwork:
		rows, relations = n.Count, n.Relations
	}
	switch {
	case rows == 0 && l == nil:
		return nil
	case rows == 0:
		return fmt.Errorf("its network learns no rows, and there are names of %d", len(l.IDs))
	case l == nil || len(l.IDs) != rows || len(l.Relations) != relations:
		return fmt.Errorf("its network has learnt %d rows and %d relations, and the names are of others", rows, relations)
	case l.Users < 0 || l.Users > rows:
		return fmt.Errorf("%d of its %d rows are users", l.Users, rows)
	}
	return nil
}

// fill makes the Params and gives them their values.
func (m *Trained) fill(tensors []safetensors.Tensor) error {
	m.Net.Init(rand.New(rand.NewPCG(0, 0)))
	places, err := weights.Of(m.Net)
	if err != nil {
		return err
	}
	file := weights.ByName(tensors)
	if err := weights.Compare(file, places, "network"); err != nil {
		return err
	}
	weights.Fill(places, file)
	for _, p := range grad.Params(m.Net) {
		p.Changed()
	}
	return finite(places)
}
