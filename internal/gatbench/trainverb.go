package gatbench

import "github.com/edgewise-ml/edgewise/internal/cli"

// trainCommand is gatbench train.
type trainCommand struct {
	trainFlags `embed:""`
}

func (c *trainCommand) endsItself() {}

// Run trains and prints what came of it. A signal ends the loading at once, and
// the training after its epoch.
func (c *trainCommand) Run(e cli.Env) (err error) {
	c.team = e.Team
	c.forRank(e.Team)
	if c.Threads, err = c.Begin(e, c.Threads); err != nil {
		return err
	}
	task, err := chosenTask(&c.trainFlags)
	if err == nil {
		err = c.takeFolds()
	}
	if err != nil {
		return err
	}
	t, err := task.Recipe(e, &c.trainFlags)
	if err == nil {
		err = t.Open(e)
	}
	if err != nil {
		return err
	}
	return c.profiled(e, func() error { return t.Train(e) })
}
