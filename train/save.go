package train

import (
	"encoding/json"
	"fmt"
	"io"
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

// Save writes a model to a safetensors file at exactly that path: its Params,
// frozen ones too, under their paths, and the struct's JSON in the metadata
// under "model". Fields that hold Params are tagged `json:"-"`. The file appears
// whole or not at all, and the same model gives the same bytes. A Param that
// [grad.Params] does not see is an error, not left out: see [grad.CheckParams].
func Save(path string, model any) error {
	places, err := weights.Of(model)
	if err != nil {
		return fmt.Errorf("train: save %s: %w", path, err)
	}
	return write(path, model, places, map[string]string{})
}

// write writes a file of a model's places, and adds what every file has to the
// metadata.
func write(path string, model any, places []weights.Place, metadata map[string]string) error {
	config, err := json.Marshal(model)
	if err != nil {
		return fmt.Errorf("train: save %s: the struct's JSON: %w", path, err)
	}
	metadata[formatKey], metadata[versionKey], metadata[modelKey] = formatName, versionName, string(config)
	arrays := weights.Tensors(places)
	err = atomicfile.Write(path, func(w io.Writer) error { return safetensors.Write(w, arrays, metadata) })
	if err != nil {
		return fmt.Errorf("train: save: %w", err)
	}
	return nil
}

// LoadConfig fills the struct that model points to from the JSON in the file at
// path, and leaves its Params alone: the model's Init then makes them, and [Load]
// gives them their values. A field in the file that the struct does not have is an
// error.
func LoadConfig(path string, model any) error {
	_, metadata, err := read(path)
	if err != nil {
		return err
	}
	text, ok := metadata[modelKey]
	if !ok {
		return fmt.Errorf("train: load %s: the metadata has no %q: not a file made by Save", path, modelKey)
	}
	if err := jsonread.Strict([]byte(text), model); err != nil {
		return fmt.Errorf("train: load %s: the metadata %q does not fit a %T: %w", path, modelKey, model, jsonread.What(err))
	}
	return nil
}

// read reads the file at path, made by Save or by another program.
func read(path string) ([]safetensors.Tensor, map[string]string, error) {
	if err := regular.File(path); err != nil {
		return nil, nil, fmt.Errorf("train: load: %w", err)
	}
	tensors, metadata, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("train: load: %w", err)
	}
	if v := metadata[versionKey]; metadata[formatKey] == formatName && v != versionName {
		return nil, nil, fmt.Errorf("train: load %s: version %q of the format; this program reads version %s", path, v, versionName)
	}
	return tensors, metadata, nil
}

// Load gives the Params of a model the values in the safetensors file at path.
// The file must hold every Param's path with its shape, and nothing else; else
// the error names what is missing, superfluous or of another shape, and the
// model stays as it was. Elements of less precision than the model's are
// widened; those of more are refused. Of a [Checkpoint] it takes the Params of
// the run's last step.
func Load(path string, model any) error {
	tensors, metadata, err := read(path)
	if err != nil {
		return err
	}
	file := weights.ByName(tensors)
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
		return fmt.Errorf("train: load %s: %w", path, err)
	}
	weights.Fill(places, file)
	changed(model)
	return nil
}

// changed says that all Params of a model have other elements.
func changed(model any) {
	for _, p := range grad.Params(model) {
		p.Changed()
	}
}
