package gatbench

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/train"
)

// predictedFact is what is said of a fact.
type predictedFact struct {
	Event    string        `json:"event"` // "predict"
	Head     string        `json:"head"`
	Relation string        `json:"relation"`
	Tail     string        `json:"tail"`
	Rank     float64       `json:"rank"` // among the answers to its question, from 1; of a whole fact that of its tail, filtered
	Score    report.Number `json:"score"`
	Known    string        `json:"known"` // train, val or test: the part of a fact that is known; empty: it is not
}

// facts returns what writes the answers to questions about facts.
func (c *predictCommand) facts(e cli.Env) (func(io.Writer) error, error) {
	links := "it is for models of links: leave it out"
	if err := unused(unusedFlag{"nodes", len(c.Nodes) > 0, links}, unusedFlag{"pairs", c.Pairs != "", links}); err != nil {
		return nil, err
	}
	top, err := c.top()
	switch {
	case err != nil:
		return nil, err
	case c.Queries == "" && len(c.Query) == 0:
		return nil, cli.Misuse("%s is a model of facts: --query HEAD,RELATION,? or --queries FILE asks it a question, with ? in place of the head or the tail", c.File)
	}
	if err := cli.Apart([]cli.File{{Flag: "--queries", Path: c.Queries}}, c.outs); err != nil {
		return nil, err
	}
	s, err := c.openFacts(e)
	if err != nil {
		return nil, err
	}
	defer par.SetThreads(c.Threads)()
	p := newFactAnswers(s, top, c.Known)
	for _, q := range c.Query {
		words := strings.Split(q, ",")
		if strings.Contains(q, "\t") {
			words = strings.Split(q, "\t")
		}
		if len(words) != 3 {
			return nil, cli.Misuse("--query %.60s: want HEAD,RELATION,TAIL with ? in place of head or tail; tabs may stand for the commas", q)
		}
		if err := p.ask(words); err != nil {
			return nil, cli.Misuse("--query %.60s: %w", q, err)
		}
	}
	if c.Queries != "" {
		err = p.questions(c.Queries)
	}
	return func(w io.Writer) error { return p.write(w, c.JSON) }, err
}

// isTripleHead reports whether a line names the columns of facts.
func isTripleHead(words []string) bool {
	return strings.EqualFold(words[0], "head") && strings.EqualFold(words[1], "relation") && strings.EqualFold(words[2], "tail")
}

// factAnswers are answers to questions about facts.
type factAnswers struct {
	*savedFacts
	x                *grad.Var
	top              int
	all              bool // what is known, too
	entity, relation func(word string) (int32, error)
	known            map[[3]int32]string // the part of each fact
	lines            []predictedFact
}

func newFactAnswers(s *savedFacts, top int, all bool) *factAnswers {
	p := &factAnswers{savedFacts: s, x: grad.Const(s.net.Entities.Value), top: top, all: all, known: map[[3]int32]string{}}
	k := s.data
	p.entity, p.relation = numberOf("entity", k.EntityNames, k.Entities), numberOf("relation", k.RelationNames, k.Relations())
	for _, part := range []struct {
		name string
		g    *graph.Graph
	}{{"train", k.Train}, {"val", k.Val}, {"test", k.Test}} {
		kinds := part.g.Kinds()
		for i, v := range part.g.Destinations() {
			p.known[[3]int32{part.g.In().Cols[i], kinds[i], v}] = part.name
		}
	}
	return p
}

// questions answers those that a file lists.
func (p *factAnswers) questions(path string) error {
	return cli.EachRow("--queries", path, 3, func(words []string, first bool) error {
		if first && isTripleHead(words) {
			return nil
		}
		return p.ask(words)
	})
}

// ask answers a question: head, relation and tail, of which one end may be asked for.
func (p *factAnswers) ask(words []string) error {
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	relation, err := p.relation(words[1])
	if err != nil {
		return err
	}
	head, tail := words[0] == "?", words[2] == "?"
	if head && tail {
		return fmt.Errorf("both ends are asked for: name one of them")
	}
	ends := [2]int32{-1, -1}
	for i, asked := range []bool{head, tail} {
		if !asked {
			if ends[i], err = p.entity(words[2*i]); err != nil {
				return err
			}
		}
	}
	if !head && !tail {
		p.whole([3]int32{ends[0], relation, ends[1]})
		return nil
	}
	q := knowledge.Question{Entity: max(ends[0], ends[1]), Relation: relation, Head: head}
	best := newBest(p.top)
	fact := func(id int32) [3]int32 {
		if head {
			return [3]int32{id, relation, q.Entity}
		}
		return [3]int32{q.Entity, relation, id}
	}
	for v, score := range knowledge.Scores(p.net.Scorer, p.x, q) {
		if p.all || p.known[fact(int32(v))] == "" {
			best.add(int32(v), score)
		}
	}
	for i, a := range best.list {
		p.add(fact(a.id), float64(i+1), a.score)
	}
	return nil
}

// whole scores a fact, and ranks its tail.
func (p *factAnswers) whole(fact [3]int32) {
	scores := knowledge.Scores(p.net.Scorer, p.x, knowledge.Question{Entity: fact[0], Relation: fact[1]})
	var others []int32
	for v := range int32(len(scores)) {
		if v != fact[2] && p.known[[3]int32{fact[0], fact[1], v}] != "" {
			others = append(others, v)
		}
	}
	var ranks train.Ranks
	ranks.Add(scores, int(fact[2]), others)
	p.add(fact, ranks[0], scores[fact[2]])
}

func (p *factAnswers) add(fact [3]int32, rank, score float64) {
	name := func(v int32) string {
		if names := p.data.EntityNames; len(names) > 0 {
			return names[v]
		}
		return strconv.Itoa(int(v))
	}
	p.lines = append(p.lines, predictedFact{"predict", name(fact[0]), p.data.RelationNames[fact[1]], name(fact[2]), rank, report.Number(score), p.known[fact]})
}

// write writes a line an answer.
func (p *factAnswers) write(w io.Writer, asJSON bool) error {
	out := report.NewPrinter(w)
	if !asJSON {
		out.Printf("head,relation,tail,rank,score,known\n")
	}
	for _, l := range p.lines {
		if asJSON {
			out.Encode(l)
		} else {
			out.Printf("%s,%s,%s,%v,%.6g,%s\n", cli.Cell(l.Head), cli.Cell(l.Relation), cli.Cell(l.Tail), l.Rank, float64(l.Score), l.Known)
		}
	}
	return out.Err()
}
