package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/ranks"
)

// The exit statuses.
const (
	Succeeded = 0
	Failed    = 1
	Misused   = 2
)

// Env is the world as a command sees it.
type Env struct {
	Ctx         context.Context
	Out, ErrOut io.Writer
	Team        *ranks.Team // of the ranks that share the work; nil: this process is alone
	Args        []string    // the command line, after the name of the program
}

// UsageError is a command line that asks for something that cannot be.
type UsageError struct{ error }

// Misuse returns the error of a command line that asks for something that cannot be.
func Misuse(format string, args ...any) error {
	return UsageError{fmt.Errorf(format, args...)}
}

// StatusOf is the exit status after err.
func StatusOf(err error) int {
	switch {
	case err == nil:
		return Succeeded
	case errors.As(err, new(UsageError)) || errors.As(err, new(*datasets.UnknownError)):
		return Misused
	}
	return Failed
}

// ErrInterrupted is what a command returns of which a signal left nothing.
var ErrInterrupted = errors.New("interrupted")

// Promptly returns what work returns, or ErrInterrupted when the context ends: the
// work then goes on behind the caller's back until the program ends, so it must
// be such that keeps nothing.
func Promptly[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, ErrInterrupted
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, ErrInterrupted
	}
}

// Reading is Promptly of work that reads what is named. If that takes more than two seconds, a terminal shows it.
func Reading[T any](e Env, what string, work func() (T, error)) (T, error) {
	defer report.NewProgress(e.ErrOut).During("reading " + what)()
	return Promptly(e.Ctx, work)
}

// OutliveReader lets the program go on when nobody reads any more what it prints,
// as in gatbench train --json --save m | head -1: it is for commands that write
// files too. Others end by SIGPIPE, which is right for them.
func OutliveReader() { signal.Notify(make(chan os.Signal, 1), brokenPipe) }

// CutShort is the error of a training that a signal has ended after an epoch or a step. All ranks end theirs at the same step, and what
// was asked for is written.
type CutShort struct{ error }

// Stopped returns an error as that of a training that was cut short.
func Stopped(err error) error { return CutShort{err} }
