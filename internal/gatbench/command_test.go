package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

func init() { tasktest.Command = Run }
