package fact

import (
	"cmp"
	"io"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
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

// Predict returns what writes the answers to questions about facts.
func (f *Model) Predict(e cli.Env, q *task.Questions) (func(io.Writer) error, error) {
	links := "it is for models of links: leave it out"
	if err := cmp.Or(task.Unused("nodes", len(q.Nodes) > 0, links), task.Unused("pairs", q.Pairs != "", links)); err != nil {
		return nil, err
	}
	top, err := q.Most()
	switch {
	case err != nil:
		return nil, err
	case q.Queries == "" && len(q.Query) == 0:
		return nil, cli.Misuse("%s is a model of facts: --query HEAD,RELATION,? or --queries FILE asks it a question, with ? in place of the head or the tail", f.File)
	}
	if err := cli.Apart([]cli.File{{Flag: "--queries", Path: q.Queries}}, f.Outs); err != nil {
		return nil, err
	}
	s, err := f.open(e)
	if err != nil {
		return nil, err
	}
	asker, err := s.model.Asker(s.data)
	if err != nil {
		return nil, err
	}
	progress, asked := report.NewProgress(e.ErrOut), 0
	defer progress.Clear()
	var answers []models.FactAnswer
	ask := func(words []string) error {
		all, err := asker.Ask([3]string{strings.TrimSpace(words[0]), strings.TrimSpace(words[1]), strings.TrimSpace(words[2])}, top, q.Known)
		answers = append(answers, all...)
		asked++
		progress.Count(asked, 0, "questions")
		return err
	}
	defer par.SetThreads(f.Threads)()
	for _, one := range q.Query {
		words := strings.Split(one, ",")
		if strings.Contains(one, "\t") {
			words = strings.Split(one, "\t")
		}
		if len(words) != 3 {
			return nil, cli.Misuse("--query %.60s: want HEAD,RELATION,TAIL with ? in place of head or tail; tabs may stand for the commas", one)
		}
		if err := ask(words); err != nil {
			return nil, cli.Misuse("--query %.60s: %w", one, err)
		}
	}
	if q.Queries != "" {
		err = cli.EachRow("--queries", q.Queries, 3, func(words []string, first bool) error {
			if first && isTripleHead(words) {
				return nil
			}
			return ask(words)
		})
	}
	return func(w io.Writer) error { return writeFacts(w, answers, f.JSON) }, err
}

// isTripleHead reports whether a line names the columns of facts.
func isTripleHead(words []string) bool {
	return strings.EqualFold(words[0], "head") && strings.EqualFold(words[1], "relation") && strings.EqualFold(words[2], "tail")
}

// writeFacts writes a line an answer.
func writeFacts(w io.Writer, answers []models.FactAnswer, asJSON bool) error {
	out := report.NewPrinter(w)
	if !asJSON {
		out.Printf("head,relation,tail,rank,score,known\n")
	}
	for _, a := range answers {
		if asJSON {
			out.Encode(predictedFact{"predict", a.Fact[0], a.Fact[1], a.Fact[2], a.Rank, report.Number(a.Score), a.Known})
		} else {
			out.Printf("%s,%s,%s,%v,%.6g,%s\n", cli.Cell(a.Fact[0]), cli.Cell(a.Fact[1]), cli.Cell(a.Fact[2]), a.Rank, a.Score, a.Known)
		}
	}
	return out.Err()
}
