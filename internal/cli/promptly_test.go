package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestPromptly: what hangs is left behind.
func TestPromptly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := make(chan struct{})
	defer close(hangs)
	_, err := Promptly(ctx, func() (int, error) {
		cancel()
		<-hangs
		return 0, nil
	})
	if !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if n, err := Promptly(t.Context(), func() (int, error) { return 7, errors.ErrUnsupported }); n != 7 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %d, error %v", n, err)
	}
	e := Env{Ctx: t.Context(), ErrOut: new(strings.Builder)}
	if n, err := Reading(e, "cora", func() (int, error) { return 7, errors.ErrUnsupported }); n != 7 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("read %d, error %v", n, err)
	}
	if _, err := Promptly(ctx, func() (int, error) { t.Error("begun after the signal"); return 0, nil }); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
}
