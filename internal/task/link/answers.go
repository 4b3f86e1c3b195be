package link

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// predictedLink is what is said of a pair of nodes.
type predictedLink struct {
	Event       string        `json:"event"`  // "predict"
	Source      string        `json:"source"` // ids, or numbers where there are none
	Target      string        `json:"target"`
	SourceName  string        `json:"source_name,omitempty"`
	TargetName  string        `json:"target_name,omitempty"`
	Score       report.Number `json:"score"`       // the logit
	Probability float64       `json:"probability"` // of a link, among as many pairs that are none
	Known       string        `json:"known"`       // train, val or test: the part of a link that is there; unused: it is in none, having no time; there: the data was not trained on; empty: there is no link
}

// Predict returns what writes the scores of pairs of nodes.
func (f *Model) Predict(e cli.Env, q *task.Questions) (func(io.Writer) error, error) {
	facts := "it is for models of facts: leave it out"
	if err := cmp.Or(task.Unused("query", len(q.Query) > 0, facts), task.Unused("queries", q.Queries != "", facts)); err != nil {
		return nil, err
	}
	top, err := q.Most()
	switch {
	case err != nil:
		return nil, err
	case q.Pairs == "" && len(q.Nodes) == 0:
		return nil, cli.Misuse("%s is a model of links: name pairs to score with --pairs FILE, or nodes whose likeliest new links to predict with --nodes N,N", f.File)
	case q.Pairs != "" && len(q.Nodes) > 0:
		return nil, cli.Misuse("--pairs and --nodes: --pairs names pairs and --nodes asks for new ones: leave one of the two flags out")
	}
	if err := cli.Apart([]cli.File{{Flag: "--pairs", Path: q.Pairs}}, f.Outs); err != nil {
		return nil, err
	}
	s, err := f.open(e, true)
	if err != nil {
		return nil, err
	}
	defer par.SetThreads(f.Threads)()
	defer report.NewProgress(e.ErrOut).During("scoring links")()
	p := &linkAnswers{savedLinks: s, known: map[[2]int32]string{}}
	p.titled = len(s.data.NodeIDs) > 0 && len(s.data.NodeNames) > 0 && !slices.Equal(s.data.NodeNames, s.data.NodeIDs)
	if err := p.encode(); err != nil {
		return nil, task.Unfit(err, f.File, s.model.Data.Name, s.data.Name)
	}
	if q.Pairs != "" {
		err = p.pairs(q.Pairs)
	} else {
		err = p.likeliest(q.Nodes, top, q.Known)
	}
	return func(w io.Writer) error { return p.write(w, f.JSON) }, err
}

// linkAnswers are the pairs that are asked for.
type linkAnswers struct {
	*savedLinks
	rows  *tensor.Dense       // what the encoder makes of the nodes
	known map[[2]int32]string // the part of each link, by its pair
	lines []predictedLink

	titled bool // nodes have names beside their ids
}

// encode makes the rows of the nodes, along the links that trained or, of other data, along all.
func (p *linkAnswers) encode() error {
	type part struct {
		name string
		g    *graph.Graph
	}
	parts := []part{{"there", p.data.Graph}}
	if k := p.task; k != nil {
		z, _ := p.net.Encode(grad.NewEval(), k.along, k.features)
		p.rows = z.Value()
		parts = []part{{"unused", k.Draw.Graph}, {"train", k.Train}, {"val", k.Val.Links}, {"test", k.Test.Links}}
	} else {
		all, err := p.model.EmbedOf(p.data, models.Query{})
		if err != nil {
			return err
		}
		p.rows = all.Rows
	}
	for _, part := range parts {
		for i, v := range part.g.Destinations() {
			u := part.g.In().Cols[i]
			p.known[p.pair(u, v)] = part.name
		}
	}
	return nil
}

// pair is by what the part of a link is known: its ends, the smaller one first unless links have a direction.
func (p *linkAnswers) pair(u, v int32) [2]int32 {
	if p.net.Settings.Directed {
		return [2]int32{u, v}
	}
	return [2]int32{min(u, v), max(u, v)}
}

// score returns the logit of a link.
func (p *linkAnswers) score(u, v int32) float64 {
	sum, other := 0.0, p.rows.Row(int(v))
	for j, x := range p.net.Asking(p.rows.Row(int(u))) {
		sum += float64(x) * float64(other[j])
	}
	return sum
}

// add adds a pair.
func (p *linkAnswers) add(u, v int32, score float64) {
	line := predictedLink{Event: "predict", Source: p.id(u), Target: p.id(v), Score: report.Number(score), Probability: 1 / (1 + math.Exp(-score)), Known: p.known[p.pair(u, v)]}
	if p.titled {
		line.SourceName, line.TargetName = p.data.NodeNames[u], p.data.NodeNames[v]
	}
	p.lines = append(p.lines, line)
}

// id is what the data calls a node: its id, or its number if it has none.
func (p *linkAnswers) id(v int32) string {
	if ids := p.ids(); len(ids) > 0 {
		return ids[v]
	}
	return strconv.Itoa(int(v))
}

func (p *linkAnswers) ids() []string {
	if len(p.data.NodeIDs) > 0 {
		return p.data.NodeIDs
	}
	return p.data.NodeNames
}

// pairs takes the pairs that a file lists.
func (p *linkAnswers) pairs(path string) error {
	source, target := p.numbers()
	return cli.EachRow("--pairs", path, 2, func(words []string, first bool) error {
		if first && isPairHead(words) {
			return nil
		}
		u, err := source(words[0])
		if err != nil {
			return err
		}
		v, err := target(words[1])
		if err == nil {
			p.add(u, v, p.score(u, v))
		}
		return err
	})
}

// numbers return what finds the two nodes of a pair: those of users and items have names of
// their own.
func (p *linkAnswers) numbers() (source, target func(word string) (int32, error)) {
	users := p.users
	if users == 0 {
		node := numberOf("node", p.ids(), p.rows.Rows())
		return node, node
	}
	item := numberOf("item", p.data.NodeNames[users:], p.rows.Rows()-users)
	return numberOf("user", p.data.NodeNames[:users], users), func(word string) (int32, error) {
		v, err := item(word)
		return v + int32(users), err
	}
}

// isPairHead reports whether a line names the columns of pairs.
func isPairHead(words []string) bool {
	plainly := func(word string) string {
		return strings.TrimSuffix(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word)), "id")
	}
	for _, names := range [][2]string{{"source", "target"}, {"src", "dst"}, {"from", "to"}, {"u", "v"}, {"user", "item"}, {"node1", "node2"}, {"id1", "id2"}} {
		if plainly(words[0]) == names[0] && plainly(words[1]) == names[1] {
			return true
		}
	}
	return false
}

// numberOf returns what finds the number of one of n of what noun says: of that name, or
// where they have none of that number.
func numberOf(noun string, names []string, n int) func(word string) (int32, error) {
	if len(names) == 0 {
		return func(word string) (int32, error) {
			v, err := strconv.Atoi(word)
			if err != nil || v < 0 || v >= n {
				return 0, fmt.Errorf("there is no %s %.40q: they are numbered from 0 to %d", noun, word, n-1)
			}
			return int32(v), nil
		}
	}
	of := make(map[string]int32, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		of[names[i]] = int32(i) // of several the first
	}
	return func(word string) (int32, error) {
		v, ok := of[word]
		if !ok {
			return 0, fmt.Errorf("there is no %s %.40q; is it %.40q?", noun, word, spell.Nearest(word, names[:min(len(names), 10_000)]))
		}
		return v, nil
	}
}

// likeliest takes, of each node, the links that score highest: those that are not there, or
// all.
func (p *linkAnswers) likeliest(nodes []string, top int, known bool) error {
	n := p.rows.Rows()
	of, item := p.numbers()
	for _, id := range nodes {
		u, err := of(id)
		if v, e := item(id); err != nil && e == nil {
			u, err = v, nil
		}
		if err != nil {
			return cli.Misuse("--nodes: %w", err)
		}
		best := newBest(top)
		from, to := 0, n
		if users := p.users; int(u) < users {
			from = users
		} else if users > 0 {
			to = users
		}
		for v := int32(from); v < int32(to); v++ {
			if v != u && (known || p.known[p.pair(u, v)] == "") {
				best.add(v, p.score(u, v))
			}
		}
		for _, a := range best.list {
			p.add(u, a.id, a.score)
		}
	}
	return nil
}

// write writes a line a pair.
func (p *linkAnswers) write(w io.Writer, asJSON bool) error {
	out := report.NewPrinter(w)
	if !asJSON {
		out.Printf("source,target,score,probability,known")
		if p.titled {
			out.Printf(",source_name,target_name")
		}
		out.Printf("\n")
	}
	for _, l := range p.lines {
		if asJSON {
			out.Encode(l)
			continue
		}
		out.Printf("%s,%s,%.6g,%.4f,%s", cli.Key(l.Source), cli.Key(l.Target), float64(l.Score), l.Probability, l.Known)
		if p.titled {
			out.Printf(",%s,%s", cli.Cell(l.SourceName), cli.Cell(l.TargetName))
		}
		out.Printf("\n")
	}
	return out.Err()
}
