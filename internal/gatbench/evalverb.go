package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
)

// evalCommand is gatbench eval.
type evalCommand struct {
	savedFlags `embed:""`
}

// Run scores a saved model on each part of the split.
func (c *evalCommand) Run(e cli.Env) (err error) {
	if c.Threads, err = c.Begin(e, c.Threads); err != nil {
		return err
	}
	return savedTask(c.File).Model(&c.savedFlags).Eval(e)
}
