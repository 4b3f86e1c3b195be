package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// wholeNet is a network and what it stands for: in whole numbers the field of unit i is
// Σ_j w_ij·s_j + b_i, in some unit of its own.
type wholeNet struct {
	name string
	h    *memory.Hopfield
	w    [][]int64
	b    []int64
}

func (n *wholeNet) field(i int, s []int64) (sum int64) {
	for j, v := range n.w[i] {
		sum += v * s[j]
	}
	return sum + n.b[i]
}

// fineness is how many parts of 1 a threshold has that is no whole number.
const fineness = 1 << 20

// wholeNets returns networks of so many units in which ties are frequent: Hebb's of some patterns, and
// whole weights that are small or beyond what float32 counts, without thresholds, with whole ones, and
// with some between.
func wholeNets(rng *rand.Rand, units, patterns int) (nets []*wholeNet) {
	x := signs(rng.Uint64(), patterns, units)
	for _, most := range []int64{0, 2, 1 << 21} { // 0: Hebb
		for _, thresholds := range []string{"none", "whole", "between"} {
			net := &wholeNet{name: fmt.Sprintf("%d units, %d patterns, weights to %d, thresholds %s", units, patterns, most, thresholds)}
			each := int64(1) // weights are whole numbers divided by it
			if most == 0 {
				net.h, _ = memory.Store(memory.Hebb, x)
				each = int64(units)
			} else {
				net.h = memory.NewHopfield(units)
			}
			for i := range units {
				net.w, net.b = append(net.w, make([]int64, units)), append(net.b, 0)
				for j := range i {
					v := rng.Int64N(2*most+1) - most
					if most == 0 {
						for n := range patterns {
							v += int64(x.Row(n)[i] * x.Row(n)[j])
						}
					} else {
						net.h.W.Value.Row(i)[j], net.h.W.Value.Row(j)[i] = tensor.Float(v), tensor.Float(v)
					}
					net.w[i][j], net.w[j][i] = v*fineness, v*fineness
				}
			}
			if thresholds != "none" {
				net.h.B = grad.NewParam(units)
			}
			for i := range units {
				switch b := rng.Int64N(5) - 2; thresholds {
				case "whole":
					net.b[i], net.h.B.Value.Data[i] = b*fineness, tensor.Float(b)/tensor.Float(each)
				case "between": // a part of the unit beside a tie, or on it
					net.b[i], net.h.B.Value.Data[i] = each*b, tensor.Float(b)/fineness
				}
			}
			nets = append(nets, net)
		}
	}
	return nets
}

// recall is Recall by whole numbers, of one cue with the number k, and how many ties it met.
func (n *wholeNet) recall(cue []tensor.Float, k int, r memory.Recall) (state []tensor.Float, ties int) {
	s, order := make([]int64, len(cue)), make([]int, len(cue))
	for i, v := range cue {
		s[i], order[i] = int64(v), i
	}
	rng := rand.New(rand.NewPCG(r.Seed, uint64(k)))
	for range r.Most {
		if r.Random {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		heard, changed := slices.Clone(s), false
		for _, i := range order {
			to, x := int64(-1), n.field(i, heard)
			if x >= 0 {
				to = 1
			}
			if x == 0 {
				ties++
			}
			changed = changed || to != s[i]
			if s[i] = to; !r.Sync {
				heard[i] = to
			}
		}
		if !changed {
			break
		}
	}
	for _, v := range s {
		state = append(state, tensor.Float(v))
	}
	return state, ties
}

// Ties are decided exactly, where weights are whole numbers and where they are Hebb's: each recall is
// that of whole numbers, of all units at once and of one at a time, by each kernel, on any threads.
func TestTiesAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	ties, all := 0, 0
	sizes := []struct{ units, patterns, draws int }{{3, 2, 6}, {6, 3, 6}, {10, 4, 6}, {49, 2, 3}, {90, 6, 3}, {250, 4, 1}}
	if sparing.Full() {
		sizes = append(sizes, struct{ units, patterns, draws int }{500, 8, 3})
	}
	for _, c := range sizes {
		for draw := range c.draws {
			undoPath := func() {}
			if draw%3 == 1 {
				undoPath = cpu.Narrow()
			} else if draw%3 == 2 {
				undoPath = cpu.Disable()
			}
			for _, net := range wholeNets(rng, c.units, c.patterns) {
				cues := signs(rng.Uint64(), 5, c.units)
				for _, r := range []memory.Recall{{Most: 1}, {Sync: true, Most: 1}, {Most: 9}, {Sync: true, Most: 4}, {Random: true, Seed: 7, Most: 9}} {
					undo := par.SetThreads(1 + rng.IntN(3))
					got := recalled(t, net.h, cues, r)
					undo()
					for k := range cues.Rows() {
						want, tied := net.recall(cues.Row(k), k, r)
						ties, all = ties+tied, all+1
						// A state that cycles stays as it was at the second turn.
						if !slices.Equal(got.States.Row(k), want) && !got.Cycles[k] {
							t.Errorf("%s, %+v: cue %d comes to another state than by whole numbers", net.name, r, k)
						}
					}
				}
				fields, err := net.h.Fields(cues)
				if err != nil {
					t.Fatal(err)
				}
				for k := range cues.Rows() {
					s := make([]int64, c.units)
					for i, v := range cues.Row(k) {
						s[i] = int64(v)
					}
					for i, got := range fields.Row(k) {
						if want := net.field(i, s); (got > 0) != (want > 0) || (got < 0) != (want < 0) {
							t.Fatalf("%s: the field of unit %d is %v, by whole numbers %d", net.name, i, got, want)
						}
					}
				}
			}
			undoPath()
		}
	}
	if 2*ties < all {
		t.Errorf("%d ties in %d recalls: too few to say anything", ties, all)
	}
}

// What changes the weights of a network after Store is heard: they are looked at, not remembered.
func TestWholeWeightsAreLookedAt(t *testing.T) {
	h := stored(t, memory.Hebb, signs(52, 2, 10))
	s := signs(53, 1, 10)
	for i := range h.Units {
		row := h.W.Value.Row(i)
		for j := range row {
			row[j] = 0
		}
		row[(i+1)%10] = s.Data[i] * s.Data[(i+1)%10] * -1e-9 // far below a tenth, and not nought
	}
	if got := recalled(t, h, s, memory.Recall{Sync: true, Most: 1}); memory.Wrong(got.States, s)[0] != 1 {
		t.Errorf("weights of 1e-9 leave the state %v of %v", got.States.Data, s.Data)
	}
}
