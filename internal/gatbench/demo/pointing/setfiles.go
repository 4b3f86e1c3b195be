package pointing

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/tensor"
)

// setFiles are a user's files of points. What is tried may be named alone, since what is learnt can be drawn.
type setFiles struct{ stage.Files }

func (f setFiles) check(written []cli.File) error {
	if f.Train != "" && f.Test == "" {
		return cli.Misuse("--train %s: name a file to try with --test, too", f.Train)
	}
	return f.Apart(written)
}

// learnt returns the sets to learn from, with their answers.
func (f setFiles) learnt(answer func(*tensor.Dense) ([]int32, error)) (points.Sets, error) {
	own, err := readSets(f.Train)
	if err != nil {
		return points.Sets{}, err
	}
	sets, err := setsOf(own, answer)
	if err != nil {
		return sets, fmt.Errorf("--train %s: %w", f.Train, err)
	}
	return sets, nil
}
