// Package task is what all tasks share, and the interface by which commands know them: a [Task] is a kind of thing that can be learnt of
// data. Each has a package of its own below this one: node, edge, graph, link and fact.
//
// A training goes through four steps, whatever its task:
//
//	t, err := task.Choose(flags)      // flags say which task, or the data does
//	run, err := t.Recipe(env, flags)  // settings: what flags say, or a checkpoint
//	err = run.Open(env)               // the data, which settles what flags leave open
//	err = run.Train(env)              // a training for each seed, what came of it, what is saved
//
// Train of all tasks is [Flags.TrainAll], one loop over [Trial]s. A model in a file is a [Model], which is measured and asked; its answers
// are those of [models.Predictor].
//
// To add a task, write a package with a Task, and add it to the list in internal/gatbench/tasks.go.
package task
