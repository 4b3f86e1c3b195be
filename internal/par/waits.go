package par

import "time"

// wakeCost is what waking a parked worker is worth, as time that it may spin. It is there
// only some tens of microseconds late; but on a virtual machine its processor may have gone
// to another core meanwhile, one that shares its units with the caller's, and then both are
// slow for milliseconds.
const wakeCost = time.Millisecond

// waits remembers what a worker's waits of late would have cost under each of some bounds
// on spinning, of which each is twice the one before: coldSpin first, HotSpin last. A wait
// that is over within a bound costs its own length, a longer one the bound and a wake.
//
// Loops of a training on a whole graph follow each other within tens of microseconds, with
// a pause now and then; between those of small batches stand milliseconds in which a batch
// is put together. No single bound is right for both.
type waits struct {
	cost [7]float32 // of a wait, in nanoseconds, for coldSpin<<i
}

// HotSpin is the longest that a worker may spin while a step runs.
const HotSpin = coldSpin << (len(waits{}.cost) - 1)

// memory is about how many waits count.
const memory = 32

// add remembers a wait that took so long until there was something to do.
func (w *waits) add(took time.Duration) {
	for i := range w.cost {
		c := took
		if bound := coldSpin << i; took > bound {
			c = bound + wakeCost
		}
		w.cost[i] += (float32(c) - w.cost[i]) / memory
	}
}

// bound returns the bound that would have cost least; of equal ones the shortest.
func (w *waits) bound() time.Duration {
	best := 0
	for i, c := range w.cost {
		if c < w.cost[best] {
			best = i
		}
	}
	return coldSpin << best
}
