package pointing

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sample returns a function that draws some of the sets for a step. Unless they are asked for as listed, the points of each are
// shuffled, and again says its answer anew.
func sample(all points.Sets, asListed bool, again func([]int32) []int32) func(points.Task) points.Sets {
	return func(t points.Task) points.Sets {
		rng := rand.New(rand.NewPCG(t.Seed, 0))
		rows := make([]int, t.Count)
		for k := range rows {
			rows[k] = rng.IntN(all.Len())
		}
		some := pick(all, rows)
		if !asListed {
			some, _ = shuffled(some, rng, again)
		}
		return some
	}
}

// pick returns some of the sets.
func pick(all points.Sets, rows []int) points.Sets {
	out := points.Sets{Offsets: []int{0}}
	var x []tensor.Float
	for _, i := range rows {
		x = append(x, all.Set(i).Data...)
		out.Offsets, out.Answers = append(out.Offsets, len(x)/2), append(out.Answers, all.Answers[i])
	}
	out.X = tensor.Of(x, len(x)/2, 2)
	return out
}

// shuffled returns sets with their points in other orders, and where each of these stood before. again says what an answer is
// when its places are read from the lowest on; nil: there are no answers.
func shuffled(s points.Sets, rng *rand.Rand, again func([]int32) []int32) (out points.Sets, was [][]int32) {
	out = points.Sets{X: tensor.New(s.X.Rows(), 2), Offsets: s.Offsets, Answers: make([][]int32, s.Len())}
	for i := range s.Len() {
		from, order := s.Offsets[i], rng.Perm(s.Offsets[i+1]-s.Offsets[i])
		old, now := make([]int32, len(order)), make([]int32, len(order))
		for k, j := range order {
			copy(out.X.Row(from+k), s.X.Row(from+j))
			old[k], now[j] = int32(j), int32(k)
		}
		was = append(was, old)
		if again != nil {
			out.Answers[i] = again(places(s.Answers[i], now))
		}
	}
	return out, was
}

// places are those of an answer by other numbers.
func places(answer, numbers []int32) []int32 {
	out := make([]int32, len(answer))
	for k, j := range answer {
		out[k] = numbers[j]
	}
	return out
}

// ring returns a ring as it is read from its lowest number on.
func ring(a []int32) []int32 {
	if len(a) == 0 {
		return a
	}
	k := slices.Index(a, slices.Min(a))
	return slices.Concat(a[k:], a[:k])
}

// tourOf returns a tour from its lowest number on, in the direction whose second number is lower than its last.
func tourOf(a []int32) []int32 {
	a = ring(a)
	if n := len(a); n > 2 && a[1] > a[n-1] {
		slices.Reverse(a[1:])
	}
	return a
}
