package par

import (
	"sync/atomic"
	"testing"
)

// Functions run aside while loops go on, on any number of threads, and each of them once.
func TestAside(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		back := SetThreads(threads)
		for _, undo := range []func(){func() {}, Hot()} {
			const functions = 50
			var ran, chunks atomic.Int64
			done := make(chan struct{}, functions)
			for i := range functions {
				Aside(func() {
					Run(3, task(func(int) { chunks.Add(1) })) // a loop of its own
					ran.Add(1)
					done <- struct{}{}
				})
				if i%3 == 0 {
					Run(20, task(func(int) { chunks.Add(1) }))
				}
			}
			for range functions {
				<-done
			}
			if want := int64(3*functions + 20*17); ran.Load() != functions || chunks.Load() != want {
				t.Errorf("%d threads: %d functions and %d chunks ran, want %d and %d", threads, ran.Load(), chunks.Load(), functions, want)
			}
			undo()
		}
		back()
	}
	sound(t)
}

// While a function runs aside, loops do without its thread, and all threads come back to them.
func TestLoopsBesideAside(t *testing.T) {
	defer SetThreads(4)()
	Run(8, task(func(int) {}))
	begun, end := make(chan struct{}), make(chan struct{})
	Aside(func() {
		close(begun)
		<-end
	})
	<-begun
	for range 200 {
		var n atomic.Int64
		Run(40, task(func(int) { n.Add(1) }))
		if n.Load() != 40 {
			t.Fatalf("%d chunks of 40 ran", n.Load())
		}
	}
	close(end)
	sound(t)
}
