package fact

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// loadFactNet reads a saved scorer.
func loadFactNet(path string) (*Network, *models.Predictor, error) {
	n := &Network{Task: task.Facts}
	m, err := task.OpenFile(path, &n.Recipe)
	if err != nil {
		return nil, nil, err
	}
	net, ok := m.Net.(*models.FactNetwork)
	if !ok {
		return nil, nil, fmt.Errorf("%s is a model of the task %s, and one of facts is wanted", path, m.Task)
	}
	n.FactNetwork = net
	n.Count, n.Relations = net.Count, net.Relations
	n.Names = sumOfNames(&datasets.Knowledge{EntityNames: m.Learnt.IDs, RelationNames: m.Learnt.Relations})
	return n, m, nil
}

// Open reads what kind of scorer a file or a checkpoint holds.
func Open(path string) (*Network, error) {
	if n, _, err := loadFactNet(path); err == nil {
		return n, nil
	}
	n := new(Network)
	if err := train.LoadConfig(path, n); err != nil {
		return nil, err
	}
	r, err := &n.Recipe, n.Recipe.check()
	const most = 1 << 28 // entities and relations: files are not to be trusted with memory
	switch {
	case err != nil:
	case n.Task != task.Facts || n.Count < 1 || n.Count > most || n.Relations < 1 || n.Relations > most:
		err = fmt.Errorf("%d entities and %d relations of the task %.20q", n.Count, n.Relations, n.Task)
	case !(r.Val >= 0 && r.Test >= 0 && r.Val+r.Test < 1):
		err = fmt.Errorf("shares %v and %v of the facts", r.Val, r.Test)
	}
	if err := task.Believed(path, err, n.fits); err != nil {
		return nil, err
	}
	return n, nil
}

// savedFacts is a scorer of facts, and the facts that it is used on.
type savedFacts struct {
	net   *Network
	model *models.Predictor
	data  *datasets.Knowledge
}

// Model is a model of facts in a file.
type Model struct{ *task.SavedFlags }

// open reads the model and its facts, which are divided as they were in training.
func (f *Model) open(e cli.Env) (*savedFacts, error) {
	if err := f.Divided("facts"); err != nil {
		return nil, err
	}
	n, p, err := loadFactNet(f.File)
	if err != nil {
		return nil, err
	}
	trained, from := n.Recipe.Dataset, task.Origin{Dataset: n.Recipe.Dataset, Splits: source.SplitsOwn}
	at, err := f.Places(e, &from)
	if err != nil {
		return nil, err
	}
	n.Recipe.Dataset = from.Dataset
	if err := cli.Apart([]cli.File{{Flag: "--dataset", Path: at.Dataset}, {Flag: "the model", Path: f.File}}, f.Outs); err != nil {
		return nil, err
	}
	k, err := cli.Reading(e, at.Dataset, func() (*datasets.Knowledge, error) { return openFacts(f.Data, at.Dataset, &n.Recipe) })
	if err != nil {
		return nil, err
	}
	if k.Entities != n.Count || k.Relations() != n.Relations || sumOfNames(k) != n.Names {
		return nil, fmt.Errorf("%s is a model of %d entities and %d relations (it was trained on %s); %s has %d and %d, and a model of facts knows no others: %s",
			f.File, n.Count, n.Relations, trained, k.Name, k.Entities, k.Relations(), f.Instead())
	}
	return &savedFacts{n, p, k}, nil
}

// factScored is how good a saved scorer of facts is. Ranks are filtered, those of heads and
// of tails.
type factScored struct {
	Event   string  `json:"event"` // "eval"
	File    string  `json:"file"`
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	ValMRR  float64 `json:"val_mrr"`
	TestMRR float64 `json:"test_mrr"`
	Hits1   float64 `json:"test_hits_at_1"`
	Hits3   float64 `json:"test_hits_at_3"`
	Hits10  float64 `json:"test_hits_at_10"`
}

// Embed returns the rows of the entities.
func (f *Model) Embed(cli.Env, []string) (*models.Embeddings, error) {
	_, p, err := loadFactNet(f.File)
	if err != nil {
		return nil, err
	}
	return p.Entities()
}

// Eval scores a saved model on the facts that validate and test.
func (f *Model) Eval(e cli.Env) (question string, err error) {
	s, err := f.open(e)
	if err != nil {
		return "", err
	}
	defer par.SetThreads(f.Threads)()
	k := s.data
	progress := report.NewProgress(e.ErrOut)
	ranked := func(part *graph.Graph, name string) train.Ranks {
		defer progress.During(fmt.Sprintf("ranking %s %s facts", report.Grouped(part.NumEdges()), name))()
		return s.net.ranked(grad.NewEval(), k, part, progress)
	}
	val, test := ranked(k.Val, "validation"), ranked(k.Test, "test")
	line := factScored{"eval", f.File, s.net.Recipe.Dataset, s.net.Recipe.Model, val.MRR(), test.MRR(), test.Hits(1), test.Hits(3), test.Hits(10)}
	p := report.NewPrinter(e.Out)
	if f.JSON {
		p.Encode(line)
		return fmt.Sprintf(" --query %s", cli.Word(entityIDs(k)[0]+","+k.RelationNames[0]+",?")), p.Err()
	}
	p.Printf("%s on %s\n\n%-10s  %6s  %5s  %-8s  %-8s  %s\n", s.net.Recipe.title(), k.Name, "", "facts", "MRR", "hits@1", "hits@3", "hits@10")
	for _, part := range []struct {
		name  string
		facts int
		ranks train.Ranks
	}{{"validation", k.Val.NumEdges(), val}, {"test", k.Test.NumEdges(), test}} {
		r := part.ranks
		p.Printf("%-10s  %6d  %5.3f  %6.1f %%  %6.1f %%  %6.1f %%\n", part.name, part.facts, r.MRR(), 100*r.Hits(1), 100*r.Hits(3), 100*r.Hits(10))
	}
	p.Printf("\n")
	p.Paragraph("%s", rankedFacts(k))
	return fmt.Sprintf(" --query %s", cli.Word(entityIDs(k)[0]+","+k.RelationNames[0]+",?")), p.Err()
}
