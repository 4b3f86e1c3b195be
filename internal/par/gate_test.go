package par

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// No wake is lost: the sleeper sees each of many numbers, in turn.
func TestGate(t *testing.T) {
	g := newGate()
	var posted, seen atomic.Int64
	const n = 20000
	go func() {
		for i := int64(1); i <= n; i++ {
			for seen.Load() != i-1 {
				runtime.Gosched()
			}
			posted.Store(i)
			g.wake()
		}
	}()
	for i := int64(1); i <= n; i++ {
		for posted.Load() < i {
			g.announce()
			if posted.Load() < i {
				g.sleep()
			} else {
				g.cancel()
			}
		}
		seen.Store(i)
	}
}

// A wake at a gate where nobody sleeps is forgotten, one that comes before a
// cancel too.
func TestGateForgets(t *testing.T) {
	g := newGate()
	g.wake()
	g.announce()
	g.cancel()
	g.announce()
	g.wake()
	g.cancel()
	if len(g.bell) != 0 || g.asleep.Load() {
		t.Error("the gate remembers a wake")
	}
}
