package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/mpi"
)

func main() {
	sizes := flag.String("sizes", "1,1000,1000000,16000000", "numbers of floats, with commas between them")
	asJSON := flag.Bool("json", false, "print JSON, a line for each row")
	flag.Parse()
	if err := run(*sizes, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "mpibench:", err)
		os.Exit(1)
	}
}

// run measures on all ranks, and prints on rank 0.
func run(sizes string, asJSON bool) error {
	lengths, err := parse(sizes)
	if err != nil {
		return err
	}
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	var out io.Writer = io.Discard
	if world.Rank() == 0 {
		out = os.Stdout
	}
	if err := bench(world, lengths, table{out: out, json: asJSON}); err != nil {
		return err // without Finalize: the launcher then ends the other ranks
	}
	return mpi.Finalize()
}

// parse reads the list of sizes.
func parse(sizes string) (lengths []int, err error) {
	for word := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes: %q is not a number of floats", word)
		}
		lengths = append(lengths, n)
	}
	return lengths, nil
}

// bench measures each operation with arrays of each size.
func bench(world *mpi.Comm, lengths []int, to table) error {
	to.head(world)
	for _, n := range lengths {
		a := newArrays(world, n)
		if err := a.check(); err != nil {
			return err
		}
		var background time.Duration
		for _, op := range []struct {
			name string
			run  func() (time.Duration, error)
		}{
			{"Allreduce", timed(a.allreduce)},
			{"Start, wait", timed(a.background)},
			{"Waiting", func() (time.Duration, error) { return a.waiting(background) }},
			{"Alltoall", timed(a.alltoall)},
			{"Allgather", timed(a.allgather)},
		} {
			median, err := a.median(op.run)
			if err != nil {
				return err
			}
			if op.name == "Start, wait" {
				background = median
			}
			r := row{op.name, n, float64(median.Nanoseconds()) / 1e3, 4 * float64(n) / float64(median.Nanoseconds())}
			if err := to.row(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrays are the arguments of the operations.
type arrays struct {
	world      *mpi.Comm
	data, into []float32
	counts     []int     // equal parts of data, by rank
	own        []float32 // this rank's part
}

func newArrays(world *mpi.Comm, n int) *arrays {
	a := &arrays{world: world, data: make([]float32, n), into: make([]float32, n), counts: make([]int, world.Size())}
	for rank := range a.counts {
		a.counts[rank] = n*(rank+1)/world.Size() - n*rank/world.Size()
	}
	a.own = make([]float32, a.counts[world.Rank()])
	return a
}

// check adds up ones, and leaves zeros, whose sums stay zero.
func (a *arrays) check() error {
	for i := range a.data {
		a.data[i] = 1
	}
	if err := a.allreduce(); err != nil {
		return err
	}
	if i := slices.IndexFunc(a.data, func(x float32) bool { return x != float32(a.world.Size()) }); i >= 0 {
		return fmt.Errorf("the sum of ones over %d ranks is %v", a.world.Size(), a.data[i])
	}
	clear(a.data)
	return nil
}

func (a *arrays) allreduce() error { return mpi.Allreduce(a.world, a.data, mpi.Sum) }

func (a *arrays) background() error {
	r, err := mpi.StartAllreduce(a.world, a.data, mpi.Sum)
	if err != nil {
		return err
	}
	return r.Wait(context.Background())
}

// waiting begins an Allreduce, computes for a time, and returns how long it then waits.
func (a *arrays) waiting(compute time.Duration) (time.Duration, error) {
	began := time.Now()
	r, err := mpi.StartAllreduce(a.world, a.data, mpi.Sum)
	if err != nil {
		return 0, err
	}
	for x := 1.0; time.Since(began) < compute; x *= 1.0001 { // a computation that keeps the processor busy
		a.into[0] = float32(x)
	}
	began = time.Now()
	err = r.Wait(context.Background())
	return time.Since(began), err
}

// alltoall sends an equal part to each rank, without what is left over.
func (a *arrays) alltoall() error {
	part := len(a.data) / a.world.Size()
	equal := slices.Repeat([]int{part}, a.world.Size())
	n := part * a.world.Size()
	return mpi.Alltoall(a.world, a.data[:n], equal, a.into[:n], equal)
}

func (a *arrays) allgather() error { return mpi.Allgather(a.world, a.own, a.into, a.counts) }

// timed measures an operation.
func timed(f func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		began := time.Now()
		err := f()
		return time.Since(began), err
	}
}

// median repeats an operation, each time after a barrier, and returns the median time of the slowest
// rank. All ranks repeat it as often.
func (a *arrays) median(f func() (time.Duration, error)) (time.Duration, error) {
	times := make([]int64, min(max(20_000_000/len(a.data), 7), 1000))
	for i := range times {
		if err := a.world.Barrier(); err != nil {
			return 0, err
		}
		t, err := f()
		if err != nil {
			return 0, err
		}
		times[i] = t.Nanoseconds()
	}
	if err := mpi.Allreduce(a.world, times, mpi.Max); err != nil {
		return 0, err
	}
	slices.Sort(times)
	return time.Duration(times[len(times)/2]), nil
}

// A row is what is measured of one operation with arrays of one size.
type row struct {
	Operation string  `json:"operation"`
	Floats    int     `json:"floats"`
	Median    float64 `json:"median_us"`
	Rate      float64 `json:"gb_per_s"`
}

// A table is what rank 0 prints.
type table struct {
	out  io.Writer
	json bool
}

func (t table) head(world *mpi.Comm) {
	if !t.json {
		fmt.Fprintf(t.out, "%s, %d ranks\n\n%11s  %-12s %12s %9s\n", mpi.Version(), world.Size(), "floats", "operation", "median µs", "GB/s")
	}
}

func (t table) row(r row) error {
	if t.json {
		return json.NewEncoder(t.out).Encode(r)
	}
	_, err := fmt.Fprintf(t.out, "%11d  %-12s %12.1f %9.2f\n", r.Floats, r.Operation, r.Median, r.Rate)
	return err
}
