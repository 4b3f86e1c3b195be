package gatbench

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
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
	m, _, err := task.Load(&c.SavedFlags)
	if err != nil {
		return err
	}
	question, err := m.Eval(e)
	if err != nil || c.JSON {
		return err
	}
	p := report.NewPrinter(e.Out)
	p.Printf("\n")
	p.Next(fmt.Sprintf("%s predict %s%s%s --out predictions.csv", cli.Program, cli.Word(c.File), question, c.Again()))
	return p.Err()
}
