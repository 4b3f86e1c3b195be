package train

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/weights"
)

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
