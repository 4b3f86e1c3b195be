package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/edge"
	"github.com/edgewise-ml/edgewise/internal/task/fact"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/node"
)

// The tasks, the usual one first. Each has a room of its own below internal/task.
func init() {
	task.All = []task.Task{node.Task{}, edge.Task{}, graphs.Task{}, fact.Task{}, link.Task{}}
}
