package gatbench

// The tasks, the usual one first. Each has a room of its own below internal/task.
func init() { rooms = []room{nodeRoom{}, edgeRoom{}, graphRoom{}, factRoom{}, linkRoom{}} }
