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
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/par"
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

// joins is whether this program joins jobs.
var joins bool

// MainOf is [Main] of a process that may be one of the ranks of a job: train, eval and predict share their work among them. Rank 0 alone prints
// and writes files.
func MainOf(j Job) int {
	program, joins = thisProcess().name(), true
	args, out, errOut := os.Args[1:], io.Writer(os.Stdout), io.Writer(os.Stderr)
	if len(args) > 0 && !slices.Contains(shared, args[0]) && !strings.HasPrefix(args[0], "-") {
		report.Message(errOut, fmt.Sprintf("%s is not shared among processes: the commands here are %s; gatbench has the others", args[0], strings.Join(shared, ", ")))
		return misused
	}
	comm, err := j.Join()
	if err != nil {
		report.Message(errOut, err.Error())
		return failed
	}
	if comm == nil {
		return Main()
	}
	team, err := ranks.New(comm)
	if err != nil {
		report.Message(errOut, err.Error())
		comm.Abort(failed)
	}
	done := func(bool) {}
	if j.Watch != nil {
		done = j.Watch(rankName(team))
	}
	e := env{ctx: untilSignal(), out: out, errOut: errOut, team: team}
	team.Silent = func(stage string, since time.Duration) {
		report.Message(os.Stderr, fmt.Sprintf("%s has been at %q for %v, and the other ranks wait for it", rankName(team), stage, since.Round(time.Second)))
	}
	if team.Rank() > 0 {
		e.out, e.errOut = io.Discard, io.Discard
	}
	status := runRank(e, args, done)
	atomicfile.Abandon()
	team.Leave()
	done(false)
	if err := j.End(); err != nil && status == succeeded {
		report.Message(errOut, fmt.Sprintf("%s: %v", rankName(team), err))
		status = failed
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
func runRank(e env, args []string, leaving func(ends bool)) int {
	err := alike(e.team, args)
	if err == nil {
		err = dispatch(e, args)
	}
	if err == nil {
		return succeeded
	}
	status := statusOf(err)
	if errors.As(err, new(cutShort)) && e.team.Err() == nil {
		if _, lost := e.team.All(nil); lost == nil { // all have stopped, and rank 0 has written what there is
			complain(e.errOut, err, args)
			return status
		}
	}
	own, pause, of := io.Writer(os.Stderr), time.Duration(0), otherRank(nil)
	about := e.team.Err() != nil || errors.As(err, &of)
	if e.team.Rank() > 0 {
		own, pause = &prefixed{to: os.Stderr, prefix: fmt.Sprintf("rank %d: ", e.team.Rank())}, ownPause
	}
	switch {
	case about && e.team.Rank() > 0:
		pause = lastPause
	case about:
		pause = otherPause
	}
	if !endsWithin(e.ctx, pause) { // or else the launcher ends the job: another rank has spoken
		complain(own, err, args)
	}
	time.Sleep(passedOn)
	atomicfile.Abandon()
	leaving(true)
	e.team.Abort(status)
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
			return misuse("%w", err)
		}
	}
	return nil
}

// rankFlags are the flags of commands whose work ranks share.
type rankFlags struct {
	Limit *time.Duration `placeholder:"TIME" group:"ranks" help:"End the job if a rank has not come for so long, such as 90s or 2h, and say which and what it was doing. Default: 10m."`
}

// begin prepares this rank for a command. It returns the number of threads to use: the one that was asked for, or this rank's share of
// its host's.
func (f *rankFlags) begin(e env, threads int) (int, error) {
	switch {
	case f.Limit != nil && *f.Limit <= 0:
		return 0, misuse("--limit %v: it must be a time above 0, such as 90s", *f.Limit)
	case f.Limit != nil && !joins:
		return 0, misuse("--limit %v: it is for the ranks of gatbench-mpi: leave it out", *f.Limit)
	case e.team.Size() == 1:
		boundMemory(1)
		return threads, nil
	}
	if f.Limit != nil {
		e.team.Limit = *f.Limit
	}
	_, host, _ := strings.Cut(e.team.Name(e.team.Rank()), " on ")
	here := 0
	for i := range e.team.Size() {
		if _, other, _ := strings.Cut(e.team.Name(i), " on "); other == host {
			here++
		}
	}
	boundMemory(here)
	if threads != 0 {
		return threads, nil
	}
	if l := par.LimitsNow(); l.Processors > 0 && l.Processors < usage.Processors() {
		return 0, nil // the launcher has bound each rank to its own
	}
	return max(1, par.Threads()/here), nil
}

// boundMemory limits the heap, so that those of all ranks of this host together stay below five sixths of its free memory. Without
// a limit a heap may grow to twice what it needs. here is the number of ranks. GOMEMLIMIT comes first.
func boundMemory(here int) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if free := usage.FreeMiB(); free > 0 {
		debug.SetMemoryLimit(int64(free) << 20 / 6 * 5 / int64(here))
	}
}

// sameData returns an error if the ranks have read different data.
func (e env) sameData(name string, d *datasets.Dataset) error {
	return e.sameDigest(name, func() []byte { return []byte(d.Digest()) })
}

// sameDigest is sameData of data of which digest returns the digest. A process that is alone needs none.
func (e env) sameDigest(name string, digest func() []byte) error {
	if e.team.Size() == 1 {
		return nil
	}
	if err := e.team.Same("--dataset "+name, digest()); err != nil {
		return misuse("%w: every rank reads the same files: use a folder that all hosts share, or copy it again", err)
	}
	return nil
}

// forRank leaves the files out for every rank but the first, which alone writes.
func (o *outputFlags) forRank(team *ranks.Team) {
	if team.Rank() > 0 {
		resume := o.Resume
		*o = outputFlags{}
		o.Resume = resume
	}
}

// writes writes a file. All ranks do the work, and the first one keeps it.
func (e env) writes(path string, write func(w io.Writer) error) error {
	if e.team.Rank() > 0 {
		return write(io.Discard)
	}
	return atomicfile.Write(path, write)
}

// usage follows what the ranks spend, and prints each epoch of it for machines.
func (c *trainCommand) usage(out *report.Printer) *report.Usage {
	var each func(*report.Ranks)
	if c.JSON {
		each = func(r *report.Ranks) { out.Encode(r) }
	}
	return report.NewUsage(c.team, each)
}

// uncut returns a context for what ranks compute together once they have begun. It does not end, because they would stop at different
// places. For a process that is alone it is ctx.
func uncut(ctx context.Context, team *ranks.Team) context.Context {
	if team.Size() > 1 {
		return context.WithoutCancel(ctx)
	}
	return ctx
}
