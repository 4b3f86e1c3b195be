package link

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// A score is the sum of products, one after the other, whatever else is scored beside it.
func TestScoresOfCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 4, 5, 7, 8, 11} { // four are scored at a time
		x := tensor.New(n, 5)
		for i := range x.Data {
			x.Data[i] = tensor.Float(rng.NormFloat64())
		}
		for users := range min(n, 3) {
			s := &linkScores{rows: x, users: users, scores: make([]float64, 2)} // of another call
			var want []float64
			for w := users; w < n; w++ {
				sum := 0.0
				for j, v := range x.Row(w) {
					sum += float64(v) * float64(x.Row(n / 2)[j])
				}
				want = append(want, sum)
			}
			if got, base := s.of(int32(n / 2)); !slices.Equal(got, want) || int(base) != users {
				t.Errorf("%d nodes, %d of them users: from %d on the scores %v, want %v", n, users, base, got, want)
			}
		}
	}
}

// ranksByHand returns the filtered ranks of both ends of each link to test with, or of items, by
// their definition: one more than the candidates that score higher, and half of those that tie. A
// candidate is any other node that no link of the data joins to the node that is asked.
func ranksByHand(k *Links, all *graph.Graph, x *tensor.Dense) (ranks train.Ranks) {
	score := func(u, v int32) (sum float64) {
		for j, a := range x.Row(int(u)) {
			sum += float64(a) * float64(x.Row(int(v))[j])
		}
		return sum
	}
	joined := func(u, v int32) bool {
		for e, to := range all.Destinations() {
			if from := all.In().Cols[e]; from == u && to == v || from == v && to == u {
				return true
			}
		}
		return false
	}
	for e, v := range k.Test.Links.Destinations() {
		u := k.Test.Links.In().Cols[e]
		for _, end := range [][2]int32{{u, v}, {v, u}} {
			if int(end[0]) >= k.users && k.users > 0 {
				continue
			}
			rank, own := 1.0, score(end[0], end[1])
			for w := int32(k.users); int(w) < x.Rows(); w++ {
				if w == end[0] || w == end[1] || joined(end[0], w) {
					continue
				}
				if s := score(end[0], w); s > own {
					rank++
				} else if s == own {
					rank += 0.5
				}
			}
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// listsByHand returns recall@20 and NDCG@20 by their definition, the mean over those that have links to
// test with: a candidate is any other node that no known link, one that is not to test with, joins to the
// one that is asked.
func listsByHand(k *Links, known []*graph.Graph, x *tensor.Dense) (recall, ndcg float64) {
	joined := func(u, v int32, graphs ...*graph.Graph) (n int) {
		for _, g := range graphs {
			for e, to := range g.Destinations() {
				from := g.In().Cols[e] // of a loop both ends count
				if from == u && to == v {
					n++
				}
				if from == v && to == u {
					n++
				}
			}
		}
		return n
	}
	asked := 0.0
	for u := range int32(x.Rows()) {
		if k.users > 0 && int(u) >= k.users {
			continue
		}
		score := func(v int32) (sum float64) {
			for j, a := range x.Row(int(u)) {
				sum += float64(a) * float64(x.Row(int(v))[j])
			}
			return sum
		}
		right, found, gain, most := 0, 0, 0.0, 0.0
		for v := int32(k.users); int(v) < x.Rows(); v++ {
			for range joined(u, v, k.Test.Links) {
				rank := 1.0
				for w := int32(k.users); int(w) < x.Rows(); w++ {
					if w == u || w == v || joined(u, w, known...) > 0 {
						continue
					}
					if score(w) > score(v) {
						rank++
					} else if score(w) == score(v) {
						rank += 0.5
					}
				}
				if rank <= 20 {
					found, gain = found+1, gain+1/math.Log2(1+rank)
				}
				if right++; right <= 20 {
					most += 1 / math.Log2(1+float64(right))
				}
			}
		}
		if right > 0 {
			asked, recall, ndcg = asked+1, recall+float64(found)/float64(right), ndcg+gain/most
		}
	}
	return recall / asked, ndcg / asked
}

// A node is never a candidate of its own, whether or not messages go along self-loops, and neither
// is what it is linked to, in either direction and in no part of a split by time.
func TestLinkRanksByHand(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 3))
		const nodes = 24
		users := int(seed%2) * 10
		var src, dst []int32
		for range 70 {
			u, v := rng.Int32N(nodes), rng.Int32N(nodes)
			if users > 0 {
				u, v = rng.Int32N(int32(users)), int32(users)+rng.Int32N(int32(nodes-users))
			}
			src, dst = append(src, u, v), append(dst, v, u)
		}
		all := graph.Must(graph.New(nodes, src, dst))
		split := sample.LinkSplit{Val: 0.1, Test: 0.3, Users: users, Seed: seed}
		links, err := split.Of(all)
		if seed > 3 { // every fourth edge is in no part
			var parts [3][]int32
			for e := range int32(all.NumEdges()) {
				if e%4 > 0 {
					parts[e%4-1] = append(parts[e%4-1], e)
				}
			}
			links, err = split.By(all, parts[0], parts[1], parts[2])
		}
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.New(nodes, 3)
		for i := range x.Data {
			x.Data[i] = tensor.Float(rng.IntN(5) - 2) // many tie
		}
		k := &Links{Links: links, along: links.Graph, users: users}
		want := ranksByHand(k, all, x)
		for _, along := range []*graph.Graph{links.Graph, graph.WithSelfLoops(links.Graph)} {
			k.along = along
			if got := k.ranks(&linkScores{rows: x, users: users}); len(got) == 0 || !slices.Equal(got, want) {
				t.Errorf("seed %d, %d users: the ranks are %v, want %v", seed, users, got, want)
			}
			recall, ndcg := k.lists(&linkScores{rows: x, users: users})
			if r, n := listsByHand(k, []*graph.Graph{links.Draw.Graph, links.Val.Links}, x); !(math.Abs(recall-r) < 1e-12 && math.Abs(ndcg-n) < 1e-12) {
				t.Errorf("seed %d, %d users: recall %v and NDCG %v, want %v and %v", seed, users, recall, ndcg, r, n)
			}
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add("source,target\n3,4\n", uint8(0))
	f.Add("ann\tkettle\nbert\tteapot\n", uint8(3))
	f.Add("a;\"b\n", uint8(1))
	names := []string{"ann", "bert", "cy", "kettle", "teapot", "pot"}
	f.Fuzz(func(t *testing.T, text string, users uint8) {
		path := tasktest.FileWith(t, "pairs.csv", text)
		d := &datasets.Dataset{NodeNames: names}
		if users == 0 {
			d.NodeNames = nil
		}
		p := &linkAnswers{savedLinks: &savedLinks{net: &Autoencoder{LinkNetwork: &models.LinkNetwork{}}, data: d, users: min(int(users), 5)}, rows: tensor.New(len(names), 1)}
		if err := p.pairs(path); err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		for _, l := range p.lines {
			known := names
			if users == 0 {
				known = []string{"0", "1", "2", "3", "4", "5"}
			}
			u, v := slices.Index(known, l.Source), slices.Index(known, l.Target)
			if u < 0 || v < 0 || users > 0 && (u >= p.users || v < p.users) {
				t.Fatalf("of %d users: %+v", p.users, l)
			}
		}
		if err := p.write(io.Discard, true); err != nil {
			t.Fatal(err)
		}
	})
}

// An evaluation that is interrupted ends before the scores of the next node.
func TestScoresInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tape := grad.NewEval()
	if err := tape.Within(ctx, func() {
		s := &linkScores{tape: tape, rows: tensor.New(3, 2)}
		s.of(0)
		cancel()
		s.of(1)
		t.Error("the scores of another node")
	}); !errors.Is(err, context.Canceled) {
		t.Error("the evaluation goes on")
	}
}
