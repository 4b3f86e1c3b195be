package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
)

// trainCommand is gatbench train.
type trainCommand struct {
	Name       string `arg:"" optional:"" name:"data" help:"What to train on: a name that gatbench data list shows, or a file or folder. Default: cora, part of the program."`
	task.Flags `embed:""`
	DryRun     bool `group:"program" help:"Say what was found in the data and what would be trained, and stop."`
}

func (c *trainCommand) endsItself() {}

// Run trains and prints what came of it. A signal ends the loading at once, and
// the training after its epoch.
func (c *trainCommand) Run(e cli.Env) (err error) {
	if err := c.named(); err != nil {
		return err
	}
	c.Team, c.Typed = e.Team, e.Args
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
	if c.DryRun {
		return c.plan(e, of, t.Plan())
	}
	return c.Profiled(e, func() error { return t.Train(e) })
}

// named takes the data that the first argument names.
func (c *trainCommand) named() error {
	switch {
	case c.Name == "":
		return nil
	case cli.IsPicture(c.Name) && c.Plot:
		return cli.Misuse("%s: --plot shows the training in the terminal; --picture %s draws it into a file", c.Name, c.Name)
	case c.Dataset != nil:
		return cli.Misuse("%s and --dataset %s: they both name the data: leave one of them out", c.Name, *c.Dataset)
	}
	c.Dataset = &c.Name
	return nil
}

// planned is what --dry-run says, for machines.
type planned struct {
	Event   string   `json:"event"` // "plan"
	Dataset string   `json:"dataset"`
	Task    string   `json:"task"`
	Says    []string `json:"says"`
}

// plan says what would be trained, and how.
func (c *trainCommand) plan(e cli.Env, of task.Task, lines []string) error {
	p := report.NewPrinter(e.Out)
	if c.JSON {
		p.Encode(planned{"plan", c.At.Dataset, of.About().Flag, lines})
		return p.Err()
	}
	for _, line := range lines {
		p.Line("%s", line)
	}
	p.Next(c.Retyped("--dry-run"))
	return p.Err()
}
