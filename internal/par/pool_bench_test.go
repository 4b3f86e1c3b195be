package par

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spinTask works for about d a loop, in chunks of equal length.
type spinTask struct {
	rounds int
	sink   [64][8]int
}

//go:noinline
func (t *spinTask) Chunk(i int) {
	s := i
	for k := range t.rounds {
		s += k * s
	}
	t.sink[i%64][0] += s
}

// lasting returns a task whose n chunks take about d on one thread.
func lasting(d time.Duration, n int) *spinTask {
	t := &spinTask{rounds: 1 << 20}
	best := time.Hour
	for range 10 {
		start := time.Now()
		t.Chunk(0)
		best = min(best, time.Since(start))
	}
	t.rounds = int(float64(t.rounds) * float64(d) / float64(best) / float64(n))
	return t
}

// median runs f b.N times and reports the median time, which a busy machine
// disturbs less than the mean.
func median(b *testing.B, f func()) {
	b.ReportAllocs()
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		f()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/1e3, "µs-median")
	b.ReportMetric(float64(times[len(times)*9/10])/1e3, "µs-p90")
}

func BenchmarkForkJoin(b *testing.B) {
	defer SetThreads(2)()
	empty := &spinTask{}
	b.Run("hot", func(b *testing.B) {
		defer Hot()()
		median(b, func() { Run(2, empty) })
	})
	b.Run("cold", func(b *testing.B) {
		median(b, func() { Run(2, empty) })
	})
	b.Run("parked", func(b *testing.B) {
		var times []time.Duration
		for b.Loop() {
			time.Sleep(200 * time.Microsecond)
			start := time.Now()
			Run(2, empty)
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2])/1e3, "µs-median")
	})
}

// BenchmarkMeet is the time until both threads are at work and have seen each
// other, which a caller that takes both chunks of an empty loop does not wait
// for. With a gap the worker has been idle for some time.
func BenchmarkMeet(b *testing.B) {
	defer SetThreads(2)()
	var met atomic.Int32
	both := task(func(int) {
		for met.Add(1); met.Load() < 2; {
			pause(1)
		}
	})
	meet := func(gap time.Duration) func(b *testing.B) {
		return func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				for start := time.Now(); time.Since(start) < gap; {
					pause(4)
				}
				met.Store(0)
				start := time.Now()
				Run(2, both)
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2])/1e3, "µs-median")
		}
	}
	b.Run("cold", meet(0))
	b.Run("cold, gap 100 µs", meet(100*time.Microsecond))
	defer Hot()()
	b.Run("hot", meet(0))
	b.Run("hot, gap 100 µs", meet(100*time.Microsecond))
}

func Benchmark50us(b *testing.B) {
	x := lasting(50*time.Microsecond, 8)
	for _, n := range []int{1, 2} {
		b.Run("threads "+string(rune('0'+n)), func(b *testing.B) {
			defer SetThreads(n)()
			defer Hot()()
			median(b, func() { Run(8, x) })
		})
	}
	b.Run("default threads", func(b *testing.B) {
		defer SetThreads(0)()
		defer Hot()()
		median(b, func() { Run(8, x) })
	})
	b.Run("cold", func(b *testing.B) {
		defer SetThreads(2)()
		median(b, func() { Run(8, x) })
	})
	b.Run("allocating neighbour", func(b *testing.B) {
		defer SetThreads(2)()
		defer Hot()()
		defer allocate(200 << 20)()
		median(b, func() { Run(8, x) })
	})
}

// allocate starts a goroutine that allocates so many bytes a second.
func allocate(rate int) (stop func()) {
	end, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		var keep [64][]byte
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-end:
				runtime.KeepAlive(keep)
				return
			case <-tick.C:
				for i := range rate / 1000 / 4096 {
					keep[i%64] = make([]byte, 4096)
				}
			}
		}
	}()
	return func() { close(end); <-ended }
}

// BenchmarkGoroutines has goroutines that call a loop of 50 µs each: ns/op is a
// loop's share of the time.
func BenchmarkGoroutines(b *testing.B) {
	x := lasting(50*time.Microsecond, 8)
	run := func(name string, threads, goroutines int) {
		b.Run(name, func(b *testing.B) {
			defer SetThreads(threads)()
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					own := &spinTask{rounds: x.rounds}
					for range (b.N + g) / goroutines {
						Run(8, own)
					}
				})
			}
			wg.Wait()
		})
	}
	run("1 on 1 thread", 1, 1)
	run("1 on 2 threads", 2, 1)
	run("8 on 1 thread", 1, 8)
	run("8 on 2 threads", 2, 8)
}
