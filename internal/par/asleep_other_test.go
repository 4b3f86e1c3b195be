//go:build !linux

package par

func asleep(w *worker) bool { return w.bed.asleep.Load() }
