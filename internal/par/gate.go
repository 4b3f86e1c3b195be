package par

import "sync/atomic"

// gate is where one goroutine sleeps until another wakes it. It announces that
// it will sleep, looks once more whether it has to, and sleeps or cancels.
// Waking a gate at which nobody sleeps does nothing.
//
// A wake meant for an earlier sleep may end a later one: who comes from sleep
// looks again.
type gate struct {
	asleep atomic.Bool
	bell   chan struct{}
}

func newGate() gate { return gate{bell: make(chan struct{}, 1)} }

func (g *gate) announce() { g.asleep.Store(true) }

func (g *gate) sleep() { <-g.bell }

func (g *gate) cancel() {
	if !g.asleep.CompareAndSwap(true, false) {
		<-g.bell // somebody woke us, and the bell must not ring next time
	}
}

// wake reports whether anybody slept.
func (g *gate) wake() (slept bool) {
	if slept = g.asleep.Load() && g.asleep.CompareAndSwap(true, false); slept {
		g.bell <- struct{}{}
	}
	return slept
}
