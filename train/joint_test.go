package train_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/ranktest"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// shared is a model whose steps differ in all that ranks have to agree on: each drops out, normalises its own batch,
// moves running statistics, and every third one uses an additional Param.
type shared struct {
	In, Out, Odd   *grad.Param
	Mean, Variance *grad.Param
}

func newShared() *shared {
	rng := rand.New(rand.NewPCG(5, 6))
	m := &shared{In: grad.Glorot(rng, 2, 300), Out: grad.Glorot(rng, 300, 2), Odd: grad.Glorot(rng, 1, 300), Mean: grad.NewParam(300), Variance: grad.NewParam(300)}
	m.Mean.Frozen, m.Variance.Frozen = true, true
	m.Variance.Value.Fill(1)
	return m
}

func (m *shared) forward(t *grad.Tape, x *grad.Var, odd bool) *grad.Var {
	x = x.MatMul(t.Use(m.In))
	if odd {
		x = x.Mul(t.Use(m.Odd))
	}
	x = t.BatchNorm(x, grad.Affine{}, &grad.RunningStats{Mean: m.Mean, Variance: m.Variance}, 1e-5)
	return t.Dropout(x.ReLU(), 0.3).MatMul(t.Use(m.Out))
}

// sharedSteps is a run of seven batches an epoch, the last of which is smaller.
func sharedSteps(m *shared) *train.Fit {
	const batch, steps = 8, 7
	x, labels := blobs(60)
	rows := func(t *grad.Tape) (lo, hi int) {
		lo = (int(t.Step()) - 1) % steps * batch
		return lo, min(lo+batch, 53)
	}
	f := &train.Fit{Model: m, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 1e-3}, Seed: 7, Epochs: 3, Steps: steps, ClipNorm: 3}
	n := 0
	f.Weight = func() float64 { return float64(n) }
	f.Loss = func(t *grad.Tape) *grad.Var {
		lo, hi := rows(t)
		n = hi - lo
		return m.forward(t, x.Rows(rowsTo(lo, hi)), t.Step()%3 == 0).CrossEntropy(labels[lo:hi])
	}
	f.Eval = func(t *grad.Tape) train.Scores {
		s := train.Measure(m.forward(t, x, true).Value(), labels)
		return train.Scores{Train: s, Val: s, Test: s}
	}
	return f
}

// outcome is all that a run leaves, as text to compare to the bit.
func outcome(h *train.History, m *shared) string {
	var b strings.Builder
	for _, e := range h.Epochs {
		fmt.Fprintln(&b, e.N, e.Loss, e.Scores, e.Norm, e.MaxNorm, e.Best)
	}
	for name, p := range grad.Params(m) {
		fmt.Fprintln(&b, name, p.Value.Data)
	}
	return b.String()
}

// onRanks runs a training as ranks and returns what each of them leaves.
func onRanks(t *testing.T, size int, settle func(f *train.Fit, rank int)) []string {
	t.Helper()
	out := make([]string, size)
	for _, err := range ranktest.Run(size, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		m := newShared()
		f := sharedSteps(m)
		if f.Team = team; settle != nil {
			settle(f, c.Rank())
		}
		h, err := f.Run(t.Context())
		if err == nil {
			out[c.Rank()] = outcome(h, m)
		}
		return err
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestTeamOfOne: a job of one rank has the bits of a process that is alone.
func TestTeamOfOne(t *testing.T) {
	m := newShared()
	h, err := sharedSteps(m).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := onRanks(t, 1, nil)[0]; got != outcome(h, m) {
		t.Error("one rank has other bits than one process")
	}
}

// TestRanksAreAccumulation: R ranks have the bits of one process that accumulates R steps, on every rank, however many
// batches an epoch leaves for the last step, and more ranks than batches, too.
func TestRanksAreAccumulation(t *testing.T) {
	for _, size := range []int{2, 3, 5, 8} {
		m := newShared()
		f := sharedSteps(m)
		f.Accumulate = size
		h, err := f.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for rank, got := range onRanks(t, size, nil) {
			if got != outcome(h, m) {
				t.Errorf("%d ranks: rank %d has other bits than a process that accumulates %d steps", size, rank, size)
			}
		}
	}
	four := onRanks(t, 2, func(f *train.Fit, _ int) { f.Accumulate = 2 })
	if four[0] != four[1] {
		t.Error("two ranks that accumulate differ from each other")
	}
}

// TestAccumulateIsOneBatch: without what depends on the batch, accumulated steps have the gradients of one on all of
// their examples.
func TestAccumulateIsOneBatch(t *testing.T) {
	run := func(accumulate, steps int) []tensor.Float {
		m := newLogistic()
		x, labels := blobs(60)
		n := 0
		f := &train.Fit{Model: m, Optimiser: &train.SGD{LR: 0.1}, Epochs: 4, Steps: steps, Accumulate: accumulate}
		f.Weight = func() float64 { return float64(n) }
		f.Loss = func(t *grad.Tape) *grad.Var {
			lo := (int(t.Step()) - 1) % steps * 25
			hi := min(lo+25, 60)
			if steps == 1 {
				lo, hi = 0, 60
			}
			n = hi - lo
			return x.Rows(rowsTo(lo, hi)).MatMul(t.Use(m.W)).CrossEntropy(labels[lo:hi])
		}
		if _, err := f.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m.W.Value.Data
	}
	whole, parts := run(0, 1), run(3, 3)
	for i := range whole {
		if d := whole[i] - parts[i]; d > 1e-5 || d < -1e-5 {
			t.Fatalf("W is %v after steps on parts, want %v", parts, whole)
		}
	}
}

// TestRanksResume: a run that all ranks leave in the middle of an epoch because one is interrupted goes on to the same bits, and
// goes on with another number of ranks.
func TestRanksResume(t *testing.T) {
	whole := onRanks(t, 2, nil)
	path := filepath.Join(t.TempDir(), "run")
	errs := ranktest.Run(2, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := sharedSteps(newShared())
		f.Team, f.Checkpoint = team, path
		of := f.Loss
		f.Loss = func(t *grad.Tape) *grad.Var {
			if c.Rank() == 1 && t.Step() == 7+4 {
				cancel()
			}
			return of(t)
		}
		if _, err := f.Run(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("rank %d: %v, want that it was cancelled", c.Rank(), err)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	for rank, got := range onRanks(t, 2, func(f *train.Fit, _ int) { f.Resume = path }) {
		if got != whole[rank] {
			t.Errorf("rank %d: the run that goes on ends with other bits", rank)
		}
	}
	if three := onRanks(t, 3, func(f *train.Fit, _ int) { f.Resume = path }); three[0] != three[1] || three[0] != three[2] {
		t.Error("a run that goes on with three ranks leaves different models")
	}
}

// TestRanksStopTogether: where one rank fails the others end as well, with its name, and the checkpoint is of the step before.
func TestRanksStopTogether(t *testing.T) {
	lost := errors.New("the disk is gone")
	var ended atomic.Int32
	path := filepath.Join(t.TempDir(), "run")
	ranktest.Run(3, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			t.Error(err)
		}
		f := sharedSteps(newShared())
		f.Team, f.Checkpoint = team, path
		f.Next = func(_ context.Context, step uint64) error {
			if c.Rank() == 1 && step == 7+5 {
				return lost
			}
			return nil
		}
		switch _, err := f.Run(t.Context()); {
		case c.Rank() == 1 && !errors.Is(err, lost), err == nil:
			t.Errorf("rank %d: %v", c.Rank(), err)
		case c.Rank() != 1 && !strings.Contains(err.Error(), "rank 1 ("):
			t.Errorf("rank %d: %v: it does not name rank 1", c.Rank(), err)
		case c.Rank() != 1:
			if other := interface{ OtherRank() int }(nil); !errors.As(err, &other) || other.OtherRank() != 1 { // by which a program lets rank 1 speak first
				t.Errorf("rank %d: %v: it is not an error of rank 1", c.Rank(), err)
			}
		}
		ended.Add(1)
		return nil
	})
	if ended.Load() != 3 {
		t.Errorf("%d of 3 ranks ended", ended.Load())
	}
	whole := onRanks(t, 3, nil)
	if got := onRanks(t, 3, func(f *train.Fit, _ int) { f.Resume = path }); !slices.Equal(got, whole) {
		t.Error("the run that goes on ends with other bits")
	}
}

// TestRanksDiverge: a loss of one rank that is NaN ends the run of all in the same way.
func TestRanksDiverge(t *testing.T) {
	for _, err := range ranktest.Run(2, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		f := sharedSteps(newShared())
		f.Team = team
		of := f.Loss
		f.Loss = func(t *grad.Tape) *grad.Var {
			y := of(t)
			if c.Rank() == 1 && t.Step() == 4 {
				y = y.Log().Scale(0).Log()
			}
			return y
		}
		_, err = f.Run(t.Context())
		if d := (*train.DivergedError)(nil); !errors.As(err, &d) || d.Epoch != 1 {
			return fmt.Errorf("rank %d: %v, want that epoch 1 diverged", c.Rank(), err)
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestRankMissing: a rank that does not come is named by those that wait.
func TestRankMissing(t *testing.T) {
	come := make(chan struct{})
	var said atomic.Int32
	ranktest.Run(3, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		team.Limit = 50 * time.Millisecond
		f := sharedSteps(newShared())
		f.Team = team
		of := f.Loss
		f.Loss = func(t *grad.Tape) *grad.Var {
			if c.Rank() == 2 && t.Step() == 3 {
				<-come
			}
			return of(t)
		}
		_, err = f.Run(t.Context())
		if m := (*ranks.MissingError)(nil); c.Rank() < 2 {
			if !errors.As(err, &m) || !slices.Equal(m.Ranks, []int{2}) || !strings.Contains(err.Error(), "rank 2 did not come") {
				t.Errorf("rank %d: %v", c.Rank(), err)
			}
			if said.Add(1) == 2 {
				close(come)
			}
		}
		return nil
	})
}
