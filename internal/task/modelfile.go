package task

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/models"
)

// Believed is err, what is wrong with what a file says of its model, or, if that is nil,
// what fits says to the size of the file.
func Believed(path string, err error, fits func(bytes int64) error) error {
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			err = fits(info.Size())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: what it says of its model cannot be: %s", path, err)
	}
	return nil
}

// Save writes a model file with the recipe of its training and the scores on the parts of its data.
func Save(path string, m *models.Trained, recipe any, scores map[string]map[string]float64) (err error) {
	if m.Recipe, err = json.Marshal(recipe); err != nil {
		return err
	}
	m.Scores = scores
	for _, part := range scores {
		for name, v := range part {
			if v-v != 0 {
				delete(part, name) // of no examples
			}
		}
	}
	return m.Save(path)
}

// NodeIDs returns the ids of nodes, or their numbers.
func NodeIDs(d *datasets.Dataset) []string {
	if len(d.NodeIDs) > 0 {
		return d.NodeIDs
	}
	ids := make([]string, d.Graph.NumNodes())
	for v := range ids {
		ids[v] = fmt.Sprint(v)
	}
	return ids
}

// OpenFile reads a model file and the recipe of its training, which another program need not have written.
func OpenFile(path string, own any) (*models.Predictor, error) {
	p, err := models.Load(path)
	if err != nil {
		return nil, err
	}
	if len(p.Recipe) > 0 && own != nil {
		if err := jsonread.Unmarshal(p.Recipe, own); err != nil {
			return nil, fmt.Errorf("%s: what it says of its training: %w", path, jsonread.What(err))
		}
	}
	return p, nil
}

// TaskIn is what train says of the task of a model file.
func TaskIn(p *models.Predictor) string {
	switch p.Task {
	case models.Edges:
		return Edge
	case models.Graphs:
		return Graph
	case models.Links:
		return Link
	case models.Facts:
		return Facts
	}
	return Node
}

// ScoresOf are the scores of a training as a model file has them.
func ScoresOf(s report.Summary) map[string]map[string]float64 {
	key := cmp.Or(s.Metric.Key, "accuracy")
	return map[string]map[string]float64{"train": {key: float64(s.TrainAccuracy)}, "val": {key: float64(s.ValAccuracy)}, "test": {key: float64(s.TestAccuracy)}}
}
