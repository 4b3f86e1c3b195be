package gatbench

import "github.com/edgewise-ml/edgewise/internal/gatbench/demo"

// demoCommand is gatbench demo.
type demoCommand struct{ demo.Command }

func (c *demoCommand) endsItself() {}
