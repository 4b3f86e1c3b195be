package main

import (
	"strings"
	"testing"
	"time"
)

// at returns a progress whose clock is moved by hand.
func at(w *strings.Builder, width func() int) (*progress, func(time.Duration)) {
	clock := time.Unix(0, 0)
	p := &progress{w: w, width: width, now: func() time.Time { return clock }, last: clock}
	return p, func(d time.Duration) { clock = clock.Add(d) }
}

func TestProgressOnAPipe(t *testing.T) {
	var w strings.Builder
	p, wait := at(&w, nil)
	for i := range 100 {
		wait(time.Second)
		p.show("step %d", i+1)
	}
	p.clear()
	lines := strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
	if len(lines) != 20 || lines[0] != "step 5" || lines[19] != "step 100" {
		t.Errorf("got %d lines: %q", len(lines), lines)
	}
	if strings.ContainsAny(w.String(), "\r\x1b") {
		t.Errorf("a pipe gets what only a terminal understands: %q", w.String())
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var w strings.Builder
	p, wait := at(&w, func() int { return 10 })
	p.show("too early")
	wait(time.Second)
	p.show("12345678901234")
	p.show("too early")
	wait(time.Second)
	p.show("äö")
	p.clear()
	p.clear()
	if want := "\r123456789" + "\räö       " + "\r  \r"; w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
}

func TestProgressOfAShortTask(t *testing.T) {
	var w strings.Builder
	p := newProgress(&w)
	p.show("step")
	p.clear()
	if w.String() != "" {
		t.Errorf("got %q", w.String())
	}
}
