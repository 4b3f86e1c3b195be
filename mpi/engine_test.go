package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Requests that nobody waits for go on, and their buffers live until they are over.
func TestGoesOnAlone(t *testing.T) {
	fake(t, 2, func(c *Comm, f *fakeRank) error {
		f.late = 20
		for range 2 {
			var last *Request
			for i := range 10 {
				r, err := StartAllreduce(c, make([]float64, 100+i), Sum)
				if err != nil {
					return err
				}
				last = r
			}
			if err := errors.Join(
				of(StartAllgather(c, make([]int32, 40), make([]int32, 80), []int{40, 40})),
				of(StartAlltoall(c, make([]int32, 80), []int{40, 40}, make([]int32, 80), []int{40, 40})),
			); err != nil {
				return err
			}
			for range 3 {
				runtime.GC() // the fake finds out what has been freed
			}
			for done := false; !done; time.Sleep(time.Millisecond) {
				var err error
				if done, err = last.Done(); err != nil {
					return err
				}
			}
			time.Sleep(lingering * longestIdle * 3 / 2) // the background rests, and wakes for the second time
		}
		return nil
	})
}

// of returns the error of a call whose result does not matter.
func of[T any](_ T, err error) error { return err }

// A message without values is one all the same.
func TestEmptyMessage(t *testing.T) {
	fake(t, 1, func(c *Comm, f *fakeRank) error {
		r, err := StartRecv(c, []int8{}, 0, 0)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("before the message is sent, Wait returns %v", err)
		}
		return errors.Join(Send(c, []int8(nil), 0, 0), r.Wait(context.Background()))
	})
}

// Who waits for what is over does not sleep.
func TestNoPause(t *testing.T) {
	fake(t, 1, func(c *Comm, f *fakeRank) error {
		pauses := 0
		f.lib.pause = func(time.Duration) { pauses++ }
		for range 20 {
			if err := finished(StartAllreduce(c, []float32{1}, Sum)); err != nil {
				return err
			}
		}
		if pauses > 0 {
			return fmt.Errorf("%d pauses in 20 requests that were over at once", pauses)
		}
		return nil
	})
}

// Who waits sleeps between polls, longer and longer, unless it looks as if MPI had moved bytes.
func TestPauses(t *testing.T) {
	fake(t, 1, func(c *Comm, f *fakeRank) error {
		r, err := StartRecv(c, []int8{0}, 0, 0)
		if err != nil {
			return err
		}
		var pauses []time.Duration
		var once sync.Once
		enough, over := make(chan struct{}), make(chan error)
		f.lib.pause = func(d time.Duration) {
			if pauses = append(pauses, d); d == longestPause {
				once.Do(func() { close(enough) })
			}
			runtime.Gosched()
		}
		go func() { over <- r.Wait(context.Background()) }()
		<-enough
		if err := errors.Join(Send(c, []int8{1}, 0, 0), <-over); err != nil {
			return err
		}
		last := time.Duration(0)
		for _, d := range pauses {
			if d != firstPause && d != min(last*3/2, longestPause) {
				return fmt.Errorf("the pauses are %v", pauses)
			}
			last = d
		}
		return nil
	})
}

// Any goroutine may call. The fake checks that two never call MPI at once, and that a library for which
// one thread makes all calls gets them from one.
func TestGoroutines(t *testing.T) {
	for _, level := range []int32{standard.funneled, standard.serialized} {
		fakes, _ := newFakeJob(2, standard, maxCount)
		for _, f := range fakes {
			f.level = level
		}
		goroutines(t, fakes)
	}
}

func goroutines(t *testing.T, fakes []*fakeRank) {
	start(t, fakes, func(c *Comm, f *fakeRank) error {
		var all sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			all.Go(func() {
				buf := []int32{int32(c.Rank()*100 + i)}
				in, err := StartRecv(c, buf[:1:1], 1-c.Rank(), i)
				if err == nil {
					err = errors.Join(Send(c, []int32{int32(c.Rank()*100 + i)}, 1-c.Rank(), i), in.Wait(context.Background()))
				}
				if want := int32((1-c.Rank())*100 + i); err == nil && buf[0] != want {
					err = fmt.Errorf("goroutine %d has %d, want %d", i, buf[0], want)
				}
				errs[i] = err
			})
		}
		all.Wait()
		return errors.Join(errs...)
	})
}

// After Finalize every call is an error, and none hangs.
func TestAfterFinalize(t *testing.T) {
	fakes, _ := newFakeJob(1, standard, maxCount)
	e := newEngine(fakes[0].lib)
	c, err := e.init(launcher{})
	if err != nil {
		t.Fatal(err)
	}
	fakes[0].fail["Finalize"] = 5
	if err := says(e.finalize(), "MPI_Finalize: fake error 5"); err != nil {
		t.Error(err)
	}
	if err := e.finalize(); err != nil {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 40 { // more than the engine takes at once
		all.Go(func() {
			if err := c.Barrier(); !errors.Is(err, errFinalized) {
				t.Errorf("Barrier: %v", err)
			}
		})
	}
	all.Wait()
	if _, err := StartAllreduce(c, []int8{1}, Sum); !errors.Is(err, errFinalized) {
		t.Errorf("StartAllreduce: %v", err)
	}
	if err := e.finalize(); !errors.Is(err, errFinalized) {
		t.Errorf("Finalize once more: %v", err)
	}
}

// Abort ends the job, also while the thread is inside of a call that never returns.
func TestAbort(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		fakes, job := newFakeJob(2, standard, maxCount)
		e := newEngine(fakes[0].lib)
		c, err := e.init(launcher{})
		if err != nil {
			t.Fatal(err)
		}
		if stuck {
			inside := make(chan struct{})
			fakes[0].lib.Barrier = func(uintptr) int32 { close(inside); select {} }
			go func() { _ = c.Barrier() }()
			<-inside
		}
		ended := make(chan int, 1)
		abort(c, 9, time.Millisecond, func(code int) { ended <- code })
		if code := <-job.aborted; code != 9 {
			t.Errorf("MPI_Abort gets %d, want 9", code)
		}
		if code := <-ended; code != 9 {
			t.Errorf("the process ends with %d, want 9", code)
		}
	}
}

// The functions of the package keep to their order.
func TestOrder(t *testing.T) {
	if err := says(Finalize(), "Init has not been called"); err != nil {
		t.Error(err)
	}
	if v := Version(); v != "" {
		t.Errorf("before Init, the version is %q", v)
	}
	process.began, process.lib = true, &library{version: "MPICH 5", file: "/lib/x.so"}
	defer func() { process.began, process.lib = false, nil }()
	if _, err := Init(); says(err, "called before") != nil {
		t.Errorf("Init once more: %v", err)
	}
	if v := Version(); v != "MPICH 5 (/lib/x.so)" {
		t.Errorf("the version is %q", v)
	}
}

// MPI_Init can fail, or give less than is needed, or no other rank.
func TestInitFails(t *testing.T) {
	begin := func(change func(f *fakeRank), by launcher) error {
		fakes, _ := newFakeJob(1, standard, maxCount)
		change(fakes[0])
		_, err := newEngine(fakes[0].lib).init(by)
		return err
	}
	err := begin(func(f *fakeRank) { f.fail["Init"] = 3 }, launcher{})
	if err := says(err, "MPI_Init_thread: fake error 3"); err != nil {
		t.Error(err)
	}
	err = begin(func(f *fakeRank) {
		f.lib.InitThread = func(_, _ uintptr, _ int32, provided *int32) int32 { *provided = 0; return 0 }
	}, launcher{})
	if err := says(err, "MPI_THREAD_FUNNELED is needed"); err != nil {
		t.Error(err)
	}
	err = begin(func(*fakeRank) {}, launcher{name: "Slurm's srun", sign: "SLURM_STEP_NUM_TASKS=4", size: 4})
	if err := says(err, "one of 4 that Slurm's srun started (SLURM_STEP_NUM_TASKS=4)", "Fake 1 (libfake.so) sees no other", "EDGEWISE_MPI", "srun --mpi=pmix"); err != nil {
		t.Error(err)
	}
	if err := begin(func(*fakeRank) {}, launcher{name: "x", size: 1}); err != nil {
		t.Error(err)
	}
}
