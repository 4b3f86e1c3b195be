package ranks

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
)

// Waiting begins the name of the stages in which a rank waits for others: that of a wait in the stage "backward" is
// Waiting + "backward".
const Waiting = "waiting in "

// clock adds up how long each stage took.
type clock struct {
	mu     sync.Mutex // Silent reads it from another goroutine
	stage  string
	since  time.Time
	totals map[string]time.Duration
}

func (c *clock) begin(stage string) {
	c.stage, c.since, c.totals = stage, time.Now(), map[string]time.Duration{}
}

// enter begins a stage and returns the one before.
func (c *clock) enter(stage string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.totals[c.stage] += now.Sub(c.since)
	before, c.stage, c.since = c.stage, stage, now
	return before
}

// wait begins the wait of a stage and returns the stage.
func (c *clock) wait() (before string) {
	c.mu.Lock()
	stage := c.stage
	c.mu.Unlock()
	return c.enter(Waiting + stage)
}

// now returns the stage under way and how long it has been.
func (c *clock) now() (stage string, since time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage, time.Since(c.since)
}

// Stage says what this rank does from now on, such as "backward", and returns what it did before.
func (t *Team) Stage(name string) (before string) {
	if t == nil {
		return ""
	}
	return t.clock.enter(name)
}

// Usage is what a rank has done since its last report.
type Usage struct {
	Stages map[string]time.Duration // how long each stage took
	Sent   int64                    // bytes, to all other ranks together
}

// Report gives rank 0 what each rank has done since the last Report, in the order of the ranks, and the others nil.
func (t *Team) Report() ([]Usage, error) {
	if t == nil {
		return nil, nil
	}
	t.clock.enter(t.clock.stage)
	own := Usage{t.clock.totals, t.moved}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	t.clock.mu.Lock()
	t.clock.totals = map[string]time.Duration{}
	t.clock.mu.Unlock()
	t.moved = 0
	all, err := t.Gather(text)
	if err != nil || t.Rank() > 0 {
		return nil, err
	}
	usages := make([]Usage, len(all))
	for i, text := range all {
		if err := jsonread.Unmarshal(text, &usages[i]); err != nil {
			return nil, err
		}
	}
	return usages, nil
}
