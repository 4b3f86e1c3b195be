package node_test

import (
	"github.com/edgewise-ml/edgewise/internal/gatbench"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func init() { tasktest.Command = gatbench.Run }
