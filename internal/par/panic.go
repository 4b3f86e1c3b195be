package par

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Panic is the value that a call panics with when a chunk panicked on a worker.
// As an error it wraps the value, if that is one, so errors.As finds it whether
// or not the chunk ran on the calling goroutine.
type Panic struct {
	Value any    // what the chunk panicked with
	Stack []byte // the worker's stack, where it did
}

// errGoexit stands for the value of a chunk that ended its goroutine.
var errGoexit = errors.New("par: a chunk called runtime.Goexit on a worker (Fatal and FailNow of package testing do)")

func newPanic(v any) *Panic { return &Panic{Value: v, Stack: debug.Stack()} }

func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nin a worker:\n%s", p.Value, p.Stack)
}

func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
