package gatbench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Job is how a process finds the other processes of its job.
type Job struct {
	// Join returns this rank's Comm, or nil if the process was started alone.
	Join func() (ranks.Comm, error)

	// Watch is told the name of this rank when all have joined; nil: nobody watches. It returns what says that this rank is about to
	// end: as it should, or, with ends, by ending the job, of which it has said why.
	Watch func(name string) (done func(ends bool))

	// End is called by every rank of a job that has done its work.
	End func() error
}

// shared are the commands that ranks share the work of.
var shared = []string{"train", "eval", "predict", "version"}

// MainOf is [Main] of a process that may be one of the ranks of a job: train, eval and predict share their work among them. Rank 0 alone prints
// and writes files.
func MainOf(j Job) int {
	cli.Program, cli.Joins = cli.ThisProcess().Name(), true
	args, out, errOut := os.Args[1:], io.Writer(os.Stdout), io.Writer(os.Stderr)
	if len(args) > 0 && !slices.Contains(shared, args[0]) && !strings.HasPrefix(args[0], "-") {
		report.Message(errOut, fmt.Sprintf("%s is not shared among processes: the commands here are %s; gatbench has the others", args[0], strings.Join(shared, ", ")))
		return cli.Misused
	}
	comm, err := j.Join()
	if err != nil {
		report.Message(errOut, err.Error())
		return cli.Failed
	}
	if comm == nil {
		return Main()
	}
	team, err := ranks.New(comm)
	if err != nil {
		report.Message(errOut, err.Error())
		comm.Abort(cli.Failed)
	}
	done := func(bool) {}
	if j.Watch != nil {
		done = j.Watch(rankName(team))
	}
	e := cli.Env{Ctx: cli.UntilSignal(), Out: out, ErrOut: errOut, Team: team}
	team.Silent = func(stage string, since time.Duration) {
		report.Message(os.Stderr, fmt.Sprintf("%s has been at %q for %v, and the other ranks wait for it", rankName(team), stage, since.Round(time.Second)))
	}
	if team.Rank() > 0 {
		e.Out, e.ErrOut = io.Discard, io.Discard
	}
	status := runRank(e, args, done)
	atomicfile.Abandon()
	team.Leave()
	done(false)
	if err := j.End(); err != nil && status == cli.Succeeded {
		report.Message(errOut, fmt.Sprintf("%s: %v", rankName(team), err))
		status = cli.Failed
	}
	return status
}

// rankName is how people know a rank.
func rankName(team *ranks.Team) string {
	return fmt.Sprintf("rank %d of %d (%s)", team.Rank(), team.Size(), team.Name(team.Rank()))
}

// The pauses before a rank says what is wrong. The job ends soon after the first has spoken, so those who know more come first.
const (
	ownPause   = time.Second             // of another rank than the first, which mostly has the same error
	otherPause = 1500 * time.Millisecond // of the first rank, about the others
	lastPause  = 2 * time.Second         // of another rank than the first, about the others
	passedOn   = 200 * time.Millisecond  // after which a launcher has passed on what was said
)

// runRank is run for a rank. If this one fails and others may not, it ends the job, which leaving is called before.
func runRank(e cli.Env, args []string, leaving func(ends bool)) int {
	err := alike(e.Team, args)
	if err == nil {
		err = dispatch(e, args)
	}
	if err == nil {
		return cli.Succeeded
	}
	status := cli.StatusOf(err)
	if errors.As(err, new(cli.CutShort)) && e.Team.Err() == nil {
		if _, lost := e.Team.All(nil); lost == nil { // all have stopped, and rank 0 has written what there is
			complain(e.ErrOut, err, args)
			return status
		}
	}
	own, pause, of := io.Writer(os.Stderr), time.Duration(0), otherRank(nil)
	about := e.Team.Err() != nil || errors.As(err, &of)
	if e.Team.Rank() > 0 {
		own, pause = &prefixed{to: os.Stderr, prefix: fmt.Sprintf("rank %d: ", e.Team.Rank())}, ownPause
	}
	switch {
	case about && e.Team.Rank() > 0:
		pause = lastPause
	case about:
		pause = otherPause
	}
	if !endsWithin(e.Ctx, pause) { // or else the launcher ends the job: another rank has spoken
		complain(own, err, args)
	}
	time.Sleep(passedOn)
	atomicfile.Abandon()
	leaving(true)
	e.Team.Abort(status)
	return status
}

// endsWithin waits, and reports whether a signal has come meanwhile.
func endsWithin(ctx context.Context, pause time.Duration) bool {
	if ctx.Err() != nil {
		time.Sleep(pause)
		return false
	}
	select {
	case <-time.After(pause):
		return false
	case <-ctx.Done():
		return true
	}
}

// otherRank is an error that another rank knows more of.
type otherRank interface {
	error
	OtherRank() int
}

// prefixed writes lines that begin with who says them.
type prefixed struct {
	mu     sync.Mutex
	to     io.Writer
	prefix string
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range bytes.Lines(b) {
		if _, err := p.to.Write(slices.Concat([]byte(p.prefix), line)); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// alike returns an error if the ranks are not of one program, on processors of one kind, with the same flags.
func alike(team *ranks.Team, args []string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(text)
	kind := fmt.Sprintf("%s/%s, kernels %s, %d bits", runtime.GOOS, runtime.GOARCH, cpu.Path(), 8*unsafe.Sizeof(tensor.Float(0)))
	for _, of := range []struct {
		what   string
		digest []byte
	}{
		{"the program: copy one binary to all hosts", digest[:]},
		{"the processor (" + kind + " here): results would depend on which rank computes them; choose hosts of one kind", []byte(kind)},
		{"the command line: start all ranks with the same flags", []byte(strings.Join(args, "\x00"))},
	} {
		if err := team.Same(of.what, of.digest); err != nil {
			return cli.Misuse("%w", err)
		}
	}
	return nil
}
