package task

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// SayDoubt says, before a training, what may be a mistake in its data, if anything is.
func SayDoubt(e cli.Env, doubt string) {
	if doubt != "" {
		report.Message(e.ErrOut, doubt)
	}
}

// columnsMost is how many lines say, before a training, what becomes of columns.
const columnsMost = 30

// SayColumns says, before a training, what may be a mistake in its data, and for people what becomes of the columns of tables.
func (c *Flags) SayColumns(e cli.Env, s *columns.Schema, warnings []string) {
	if s != nil && !c.JSON {
		lines := s.Says()
		if more := len(lines) - columnsMost; more > 0 {
			lines = append(lines[:columnsMost:columnsMost], fmt.Sprintf("and %d more: %s data describe shows them", more, cli.Program))
		}
		if len(lines) > 0 {
			report.NewPrinter(e.Out).Lines(append(report.Fitted(lines, report.Width(e.Out)), ""))
		}
	}
	Warn(e, warnings)
}
