package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/task"
)

import "github.com/edgewise-ml/edgewise/internal/cli"

// trainCommand is gatbench train.
type trainCommand struct {
	task.Flags `embed:""`
}

func (c *trainCommand) endsItself() {}

// Run trains and prints what came of it. A signal ends the loading at once, and
// the training after its epoch.
func (c *trainCommand) Run(e cli.Env) (err error) {
	c.Team = e.Team
	c.ForRank(e.Team)
	if c.Threads, err = c.Begin(e, c.Threads); err != nil {
		return err
	}
	of, err := task.Choose(&c.Flags)
	if err == nil {
		err = c.TakeFolds()
	}
	if err != nil {
		return err
	}
	t, err := of.Recipe(e, &c.Flags)
	if err == nil {
		err = t.Open(e)
	}
	if err != nil {
		return err
	}
	return c.Profiled(e, func() error { return t.Train(e) })
}
