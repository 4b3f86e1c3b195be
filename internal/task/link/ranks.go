package link

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// rankedMost is how many links are ranked, and whose lists are looked at: each asks for the
// scores of all nodes.
const rankedMost = 2000

// listLength is how many of the best candidates of a node a list of recommendations has.
const listLength = 20

// linkQuality says where the links to test with stand among all nodes.
type linkQuality struct {
	TestMRR float64 `json:"test_mrr"` // filtered, of both ends among all nodes, or of items among all items
	Hits1   float64 `json:"test_hits_at_1"`
	Hits3   float64 `json:"test_hits_at_3"`
	Hits10  float64 `json:"test_hits_at_10"`
	Recall  float64 `json:"test_recall_at_20"` // mean over the nodes, or users, that have links to test with
	NDCG    float64 `json:"test_ndcg_at_20"`
}

// linkScores scores pairs by the rows of nodes.
type linkScores struct {
	tape   *grad.Tape // of rows
	rows   *tensor.Dense
	users  int
	scores []float64 // of the candidates of one node

	net      *models.LinkNetwork // whose rows they are; nil: they score by their inner products
	progress *report.Progress    // nil: nobody is told
}

// of returns the scores of a node with all others, or of a user with the items: the first
// of which is the node base.
func (s *linkScores) of(u int32) (scores []float64, base int32) {
	s.tape.Heed()
	n := s.rows.Rows() - s.users
	s.scores = slices.Grow(s.scores[:0], n)[:n]
	from := s.net.Asking(s.rows.Row(int(u)))
	i, width := 0, len(from)
	for ; i+4 <= n; i += 4 { // four sums at a time, as each waits for its last addition
		a, b, c, d := s.candidate(i, width), s.candidate(i+1, width), s.candidate(i+2, width), s.candidate(i+3, width)
		w, x, y, z := 0.0, 0.0, 0.0, 0.0
		for j, v := range from {
			f := float64(v)
			w += f * float64(a[j])
			x += f * float64(b[j])
			y += f * float64(c[j])
			z += f * float64(d[j])
		}
		s.scores[i], s.scores[i+1], s.scores[i+2], s.scores[i+3] = w, x, y, z
	}
	for ; i < n; i++ {
		sum := 0.0
		for j, v := range s.candidate(i, width) {
			sum += float64(v) * float64(from[j])
		}
		s.scores[i] = sum
	}
	return s.scores, int32(s.users)
}

// candidate returns the row of the node i of those that a node is scored with.
func (s *linkScores) candidate(i, width int) []tensor.Float {
	return s.rows.Data[(s.users+i)*width:][:width]
}

// neighbours returns the nodes that some graphs link to each, in both directions unless links have one.
func (k *Links) neighbours(graphs ...*graph.Graph) map[int32][]int32 {
	linked := make(map[int32][]int32)
	for _, g := range graphs {
		for e, v := range g.Destinations() {
			u := g.In().Cols[e]
			if linked[u] = append(linked[u], v); !k.oneWay {
				linked[v] = append(linked[v], u)
			}
		}
	}
	return linked
}

// quality ranks the links to test with.
func (k *Links) quality(t *grad.Tape, net *Autoencoder, p *report.Progress) (q linkQuality) {
	z, _ := net.Encode(t, k.along, k.features)
	s := &linkScores{tape: t, rows: z.Value(), users: k.users, net: net.LinkNetwork, progress: p}
	ranks := k.ranks(s)
	q.TestMRR, q.Hits1, q.Hits3, q.Hits10 = ranks.MRR(), ranks.Hits(1), ranks.Hits(3), ranks.Hits(10)
	q.Recall, q.NDCG = k.lists(s)
	return q
}

// ranks returns the filtered ranks of both ends of the links to test with, or of so many of
// them, spread over all: the node itself and other nodes that are linked to it do not count. Of
// users and items they are those of the items, and of links that have a direction those of the ends they lead to.
func (k *Links) ranks(s *linkScores) (ranks train.Ranks) {
	linked := k.neighbours(k.Draw.Graph, k.Val.Links, k.Test.Links)
	links, progress := task.SomeEdges(k.Test.Links, rankedMost), s.progress.Part()
	for e, v := range links.Destinations() {
		progress.Count(e, links.NumEdges(), "links ranked")
		u := links.In().Cols[e]
		for _, end := range [][2]int32{{u, v}, {v, u}} {
			if int(end[0]) >= k.users && k.users > 0 || k.oneWay && end[0] != u {
				continue
			}
			scores, base := s.of(end[0])
			ranks.Add(scores, int(end[1]-base), k.none(end[0], linked[end[0]], base))
		}
	}
	return ranks
}

// lists returns recall and NDCG of the best candidates of each node that has links to test
// with, the mean over them: the candidates are the other nodes, less those that a link outside
// the test joins to it.
func (k *Links) lists(s *linkScores) (recall, ndcg float64) {
	known, wanted := k.neighbours(k.Draw.Graph, k.Val.Links), k.neighbours(k.Test.Links)
	var asked []int32
	for u := range wanted {
		if k.users == 0 || int(u) < k.users {
			asked = append(asked, u)
		}
	}
	slices.Sort(asked)
	n := min(len(asked), rankedMost)
	progress := s.progress.Part()
	for i := range n {
		progress.Count(i, n, "nodes' lists of links")
		u := asked[i*len(asked)/n]
		scores, base := s.of(u)
		left := k.none(u, known[u], base)
		var ranks train.Ranks
		for _, v := range wanted[u] {
			ranks.Add(scores, int(v-base), left)
		}
		recall += ranks.Hits(listLength) / float64(n)
		ndcg += ranks.NDCG(listLength) / float64(n)
	}
	return recall, ndcg
}

// none returns which candidates of a node, the first of which is the node base, are no answers to
// it: those that are known to be linked to it and, where any two nodes may be linked, the node
// itself. Its own row fits it best, so it would stand above most right answers.
func (k *Links) none(u int32, known []int32, base int32) []int32 {
	var out []int32
	if k.users == 0 {
		out = append(out, u-base)
	}
	for _, id := range known {
		if id >= base { // no loop of a user
			out = append(out, id-base)
		}
	}
	return out
}
