package ranks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/ranktest"
	"github.com/edgewise-ml/edgewise/ranks"
)

// onEach runs f on each rank of a job.
func onEach(t *testing.T, size int, f func(team *ranks.Team) error) {
	t.Helper()
	for rank, err := range ranktest.Run(size, func(c ranks.Comm) error {
		team, err := ranks.New(c)
		if err != nil {
			return err
		}
		return f(team)
	}) {
		if err != nil {
			t.Errorf("rank %d of %d: %v", rank, size, err)
		}
	}
}

// TestSum: the sum is that in the order of the ranks, for vectors shorter than there are ranks as well.
func TestSum(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7} {
		for _, n := range []int{0, 1, 2, 5, 1000} {
			at := func(rank, i int) float32 { return 1 / float32(3*i+rank+1) }
			onEach(t, size, func(team *ranks.Team) error {
				var sums []*ranks.Sum[float32]
				var xs [][]float32
				for k := range 3 { // under way together
					x := make([]float32, n)
					for i := range x {
						x[i] = at(team.Rank(), i+k)
					}
					xs, sums = append(xs, x), append(sums, ranks.StartSum(team, x))
				}
				for k, s := range sums {
					if err := s.Wait(); err != nil {
						return err
					}
					for i, got := range xs[k] {
						want := at(0, i+k)
						for r := 1; r < size; r++ {
							want += at(r, i+k)
						}
						if got != want {
							return fmt.Errorf("element %d of %d is %v, want %v", i, n, got, want)
						}
					}
				}
				return nil
			})
		}
	}
}

func TestExchanges(t *testing.T) {
	onEach(t, 3, func(team *ranks.Team) error {
		own := bytes.Repeat([]byte{byte('a' + team.Rank())}, team.Rank()) // rank 0 says nothing
		want := [][]byte{{}, []byte("b"), []byte("cc")}
		same := func(a, b []byte) bool { return bytes.Equal(a, b) }
		all, err := team.All(own)
		if err != nil || !slices.EqualFunc(all, want, same) {
			return fmt.Errorf("All gives %q, %v", all, err)
		}
		if all, err = team.Gather(own); err != nil || (team.Rank() == 0) != slices.EqualFunc(all, want, same) {
			return fmt.Errorf("Gather gives %q, %v", all, err)
		}
		said, err := team.Bcast([]byte{byte(team.Rank()), 7})
		if err != nil || !bytes.Equal(said, []byte{0, 7}) {
			return fmt.Errorf("Bcast gives %v, %v", said, err)
		}
		x, part := make([]float64, 6), []float64(nil)
		for i, n := 0, team.Rank(); i <= n; i++ { // of 1, 2 and 3 elements
			part = append(part, float64(10*n+i))
		}
		if err := ranks.Share(team, part, x, []int{1, 2, 3}); err != nil || !slices.Equal(x, []float64{0, 10, 11, 20, 21, 22}) {
			return fmt.Errorf("Share gives %v, %v", x, err)
		}
		if err := team.Same("the seed", []byte("7")); err != nil {
			return err
		}
		err = team.Same("the data", []byte{byte(team.Rank() / 2)})
		if err == nil || !strings.Contains(err.Error(), "the data: ") || !strings.Contains(err.Error(), "rank 2 (process ") {
			return fmt.Errorf("Same says %v", err)
		}
		return nil
	})
}

// TestReport: rank 0 hears how long each rank spent in which stage and what it sent since the last report.
func TestReport(t *testing.T) {
	onEach(t, 2, func(team *ranks.Team) error {
		for round := range 2 {
			team.Stage("forward")
			time.Sleep(time.Millisecond)
			if before := team.Stage("idle"); before != "forward" {
				return fmt.Errorf("the stage before was %q", before)
			}
			sum := ranks.StartSum(team, make([]float32, 100))
			if err := sum.Wait(); err != nil {
				return err
			}
			usages, err := team.Report()
			if err != nil {
				return err
			}
			if team.Rank() > 0 {
				continue
			}
			for rank, u := range usages {
				if u.Stages["forward"] < time.Millisecond || u.Sent < 400 || u.Sent > 600 {
					return fmt.Errorf("round %d: rank %d reports %+v", round, rank, u)
				}
			}
		}
		return nil
	})
}

// TestMissing: those who wait agree on who is missing; a rank that is late and alive says where it was.
func TestMissing(t *testing.T) {
	silent := make(chan string, 1)
	onEach(t, 4, func(team *ranks.Team) error {
		team.Limit = 30 * time.Millisecond
		team.Stage("step 5")
		if team.Rank() == 3 {
			team.Silent = func(stage string, _ time.Duration) { silent <- stage }
			if _, err := team.All(nil); err != nil {
				return err
			}
			team.Stage("reading")
			if stage := <-silent; stage != "reading" {
				return fmt.Errorf("silent in stage %q", stage)
			}
			team.Leave()
			return nil
		}
		if _, err := team.All(nil); err != nil {
			return err
		}
		_, err := team.All(nil)
		m := (*ranks.MissingError)(nil)
		if !errors.As(err, &m) || !slices.Equal(m.Ranks, []int{3}) || m.Stage != "step 5" {
			return fmt.Errorf("%v, want that rank 3 is missing", err)
		}
		return nil
	})
}

// TestAlone: a nil Team is a process that is alone.
func TestAlone(t *testing.T) {
	var team *ranks.Team
	if team.Rank() != 0 || team.Size() != 1 || team.Stage("x") != "" {
		t.Error("a nil Team is not rank 0 of 1")
	}
	if all, err := team.All([]byte("x")); err != nil || len(all) != 1 {
		t.Errorf("All gives %q, %v", all, err)
	}
	team.Abort(1)
	team.Leave()
}

// TestFailure: an error of the Comm names the rank, and ends the waiting of the others.
func TestFailure(t *testing.T) {
	lost := errors.New("lost")
	errs := ranktest.Run(3, func(c ranks.Comm) error {
		team, err := ranks.New(broken{c, lost})
		if err != nil {
			return err
		}
		s := ranks.StartSum(team, make([]float32, 10))
		return s.Wait()
	})
	for rank, err := range errs {
		if rank == 2 && (!errors.Is(err, lost) || !strings.Contains(err.Error(), "rank 2 of 3: ")) || err == nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// broken is a Comm whose rank 2 cannot send.
type broken struct {
	ranks.Comm
	err error
}

func (b broken) Alltoall(send []byte, to []int, recv []byte, from []int) (ranks.Request, error) {
	if b.Rank() == 2 {
		return nil, b.err
	}
	r, err := b.Comm.Alltoall(send, to, recv, from)
	return r, errors.Join(err, context.Cause(context.Background()))
}
