package cli

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/usage"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/ranks"
)

// Joins is whether this program joins jobs.
var Joins bool

// RankFlags are the flags of commands whose work ranks share.
type RankFlags struct {
	Limit *time.Duration `placeholder:"TIME" group:"ranks" help:"End the job if a rank has not come for so long, such as 90s or 2h, and say which and what it was doing. Default: 10m."`
}

// Begin prepares this rank for a command. It returns the number of threads to use: the one that was asked for, or this rank's share of
// its host's.
func (f *RankFlags) Begin(e Env, threads int) (int, error) {
	switch {
	case f.Limit != nil && *f.Limit <= 0:
		return 0, Misuse("--limit %v: it must be a time above 0, such as 90s", *f.Limit)
	case f.Limit != nil && !Joins:
		return 0, Misuse("--limit %v: it is for the ranks of gatbench-mpi: leave it out", *f.Limit)
	case e.Team.Size() == 1:
		boundMemory(1)
		return threads, nil
	}
	if f.Limit != nil {
		e.Team.Limit = *f.Limit
	}
	_, host, _ := strings.Cut(e.Team.Name(e.Team.Rank()), " on ")
	here := 0
	for i := range e.Team.Size() {
		if _, other, _ := strings.Cut(e.Team.Name(i), " on "); other == host {
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

// SameData returns an error if the ranks have read different data.
func (e Env) SameData(name string, d *datasets.Dataset) error {
	return e.SameDigest(name, func() []byte { return []byte(d.Digest()) })
}

// SameDigest is sameData of data of which digest returns the digest. A process that is alone needs none.
func (e Env) SameDigest(name string, digest func() []byte) error {
	if e.Team.Size() == 1 {
		return nil
	}
	if err := e.Team.Same("--dataset "+name, digest()); err != nil {
		return Misuse("%w: every rank reads the same files: use a folder that all hosts share, or copy it again", err)
	}
	return nil
}

// Writes writes a file. All ranks do the work, and the first one keeps it.
func (e Env) Writes(path string, write func(w io.Writer) error) error {
	if e.Team.Rank() > 0 {
		return write(io.Discard)
	}
	return atomicfile.Write(path, write)
}

// Uncut returns a context for what ranks compute together once they have begun. It does not end, because they would stop at different
// places. For a process that is alone it is ctx.
func Uncut(ctx context.Context, team *ranks.Team) context.Context {
	if team.Size() > 1 {
		return context.WithoutCancel(ctx)
	}
	return ctx
}
