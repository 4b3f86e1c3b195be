package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
)

// SIGHUP and SIGPIPE, which package syscall does not name for js. Wherever else there are signals
// they have these numbers.
const (
	hangUp     = syscall.Signal(1)
	brokenPipe = syscall.Signal(13)
)

// ending are the signals that end a command. Those that were ignored when the
// program began stay so: nohup ignores SIGHUP, a shell SIGINT of what a script
// runs in the background. js has no signals.
func ending() []os.Signal {
	if runtime.GOOS == "js" {
		return nil
	}
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, hangUp}, signal.Ignored)
}

// echo is how long a signal may come once more and count as one: timeout sends
// SIGTERM to the process and to its group, a terminal that is closed SIGHUP by the
// kernel and by the shell.
const echo = 250 * time.Millisecond

// UntilSignal returns a context that the first signal ends. The second ends the
// program at once, without the temporary files of what it was writing; a SIGHUP is
// never the second, since whoever sends it cannot know of the first.
func UntilSignal() context.Context {
	heeded := ending()
	if len(heeded) == 0 { // Notify would take that for all there are
		return context.Background()
	}
	ctx, cancel := context.WithCancel(context.Background())
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, heeded...)
	go func() {
		<-caught
		first := time.Now()
		cancel()
		for s := range caught {
			if s != hangUp && time.Since(first) > echo {
				break
			}
		}
		signal.Reset(heeded...) // a third does not wait for a disk that hangs
		atomicfile.Abandon()
		os.Exit(Failed)
	}()
	return ctx
}
