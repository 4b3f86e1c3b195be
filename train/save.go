package train

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/safetensors"
	"github.com/edgewise-ml/edgewise/internal/weights"
)

// The metadata of a saved model.
const (
	formatKey, formatName   = "format", "edgewise"
	versionKey, versionName = "version", "1"
	modelKey                = "model" // the struct's JSON
	runKey                  = "run"   // of a checkpoint: runState's JSON
)

// Save is [Write] to the file at exactly that path, which appears whole or not at all.
func Save(path string, model any) error {
	s, err := paramsOf(model)
	return s.save(path, err)
}

// Write writes a model as a safetensors file: its Params, frozen ones too, under their
// paths, and the struct's JSON in the metadata under "model". Fields that hold Params are
// tagged `json:"-"`. The same model gives the same bytes. A Param that [grad.Params] does
// not see is an error, not left out: see [grad.CheckParams].
func Write(w io.Writer, model any) error {
	s, err := paramsOf(model)
	return s.write(w, err)
}

// written is what a file is to hold.
type written struct {
	tensors  []safetensors.Tensor
	metadata map[string]string
}

// paramsOf returns the file of a model's Params.
func paramsOf(model any) (*written, error) {
	places, err := weights.Of(model)
	if err != nil {
		return nil, err
	}
	return fileOf(model, places, map[string]string{})
}

// fileOf returns the file of a model's places, and adds what every file has to the metadata.
func fileOf(model any, places []weights.Place, metadata map[string]string) (*written, error) {
	config, err := json.Marshal(model)
	if err != nil {
		return nil, fmt.Errorf("the struct's JSON: %w", err)
	}
	metadata[formatKey], metadata[versionKey], metadata[modelKey] = formatName, versionName, string(config)
	return &written{weights.Tensors(places), metadata}, nil
}

// save writes the file, unless there was an error before.
func (s *written) save(path string, err error) error {
	if err != nil {
		return fmt.Errorf("train: save %s: %w", path, err)
	}
	err = atomicfile.Write(path, func(w io.Writer) error { return safetensors.Write(w, s.tensors, s.metadata) })
	if err != nil {
		return fmt.Errorf("train: save: %w", err)
	}
	return nil
}

// write writes to w, unless there was an error before.
func (s *written) write(w io.Writer, err error) error {
	if err == nil {
		err = safetensors.Write(w, s.tensors, s.metadata)
	}
	if err != nil {
		return fmt.Errorf("train: write: %w", err)
	}
	return nil
}

// Load is [Read] of the file at path.
func Load(path string, model any) error {
	return load(path, func(r io.ReaderAt, size int64) error { return readParams(r, size, model) })
}

// Read gives the Params of a model the values in a safetensors file of size bytes, which r
// reads. The file must hold every Param's path with its shape, and nothing else; else the
// error names what is missing, superfluous or of another shape, and the model stays as it
// was. Elements of less precision than the model's are widened; those of more are refused.
// Of a [Checkpoint] it takes the Params of the run's last step.
func Read(r io.ReaderAt, size int64, model any) error { return unread(readParams(r, size, model)) }

// LoadConfig is [ReadConfig] of the file at path.
func LoadConfig(path string, model any) error {
	return load(path, func(r io.ReaderAt, size int64) error { return readConfig(r, size, model) })
}

// ReadConfig fills the struct that model points to from the JSON in a file of size bytes,
// which r reads, and leaves its Params alone: the model's Init then makes them, and [Read]
// gives them their values. A field in the file that the struct does not have is an error.
func ReadConfig(r io.ReaderAt, size int64, model any) error {
	return unread(readConfig(r, size, model))
}

// load reads the file at path.
func load(path string, read func(r io.ReaderAt, size int64) error) error {
	if err := regular.Read(path, read); err != nil {
		return fmt.Errorf("train: load %w", err)
	}
	return nil
}

// unread says of an error that it is of reading.
func unread(err error) error {
	if err != nil {
		return fmt.Errorf("train: read: %w", err)
	}
	return nil
}

func readConfig(r io.ReaderAt, size int64, model any) error {
	if p := reflect.ValueOf(model); p.Kind() != reflect.Pointer || p.IsNil() {
		panic(fmt.Errorf("train: LoadConfig and ReadConfig: the model is a %T, want a pointer to the struct that is to be filled", model))
	}
	_, metadata, err := open(r, size)
	if err != nil {
		return err
	}
	text, ok := metadata[modelKey]
	if !ok {
		return fmt.Errorf("the metadata has no %q: not a file made by Save", modelKey)
	}
	if err := jsonread.Strict([]byte(text), model); err != nil {
		return fmt.Errorf("the metadata %q does not fit a %T: %w", modelKey, model, jsonread.What(err))
	}
	return nil
}

func readParams(r io.ReaderAt, size int64, model any) error {
	file, metadata, err := open(r, size)
	if err != nil {
		return err
	}
	if _, ok := metadata[runKey]; ok {
		for name := range file {
			if strings.Contains(name, "/") {
				delete(file, name)
			}
		}
	}
	places, err := weights.Of(model)
	if err == nil {
		err = weights.Compare(file, places, "model")
	}
	if err != nil {
		return err
	}
	weights.Fill(places, file)
	changed(model)
	return nil
}

// open reads a file that was made by Save or by another program.
func open(r io.ReaderAt, size int64) (map[string]*safetensors.Tensor, map[string]string, error) {
	tensors, metadata, err := safetensors.Read(r, size)
	if err != nil {
		return nil, nil, err
	}
	if v := metadata[versionKey]; metadata[formatKey] == formatName && v != versionName {
		return nil, nil, fmt.Errorf("version %q of the format; this program reads version %s", v, versionName)
	}
	return weights.ByName(tensors), metadata, nil
}

// changed says that all Params of a model have other elements.
func changed(model any) {
	for _, p := range grad.Params(model) {
		p.Changed()
	}
}
