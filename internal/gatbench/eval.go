package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
)

// evalCommand is gatbench eval.
type evalCommand struct {
	task.SavedFlags `embed:""`
}

// Run scores a saved model on each part of the split.
func (c *evalCommand) Run(e cli.Env) (err error) {
	if c.Threads, err = c.Begin(e, c.Threads); err != nil {
		return err
	}
	return task.Saved(c.File).Model(&c.SavedFlags).Eval(e)
}
