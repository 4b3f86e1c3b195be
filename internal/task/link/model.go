package link

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// loadAutoencoder reads a saved network.
func loadAutoencoder(path string) (*Autoencoder, *models.Predictor, error) {
	a := &Autoencoder{Task: task.Link}
	m, err := task.OpenFile(path, &a.Recipe)
	if err != nil {
		return nil, nil, err
	}
	net, ok := m.Net.(*models.LinkNetwork)
	if !ok {
		return nil, nil, fmt.Errorf("%s is a model of the task %s, and one of links is wanted", path, m.Task)
	}
	a.LinkNetwork, a.Codes = net, net.Codes
	if a.In = net.In; m.Learnt != nil {
		a.Users = m.Learnt.Users
	}
	return a, m, nil
}

// Open reads what kind of network a file or a checkpoint holds.
func Open(path string) (*Autoencoder, error) {
	if a, _, err := loadAutoencoder(path); err == nil {
		return a, nil
	}
	a := new(Autoencoder)
	if err := train.LoadConfig(path, a); err != nil {
		return nil, err
	}
	r, err := &a.Recipe, a.Recipe.check()
	const most = 1 << 24 // of features: files are not to be trusted with memory
	switch {
	case err != nil:
	case a.Task != task.Link || a.In < 1 || a.In > most || !slices.Contains(models.LinkNames(), r.Model) || a.Users < 0 || a.Users >= a.In && a.Users > 0:
		err = fmt.Errorf("%d features of the task %.20q and the model %.20q", a.In, a.Task, r.Model)
	case r.Features == "" && r.Model != modelLightGCN || !(r.Val > 0 && r.Test > 0 && r.Val+r.Test < 1):
		err = fmt.Errorf("the form %q of its features, and shares %v and %v of the links", r.Features, r.Val, r.Test)
	case len(a.Codes) > 0:
		err = a.plan().Check()
	}
	if err := task.Believed(path, err, a.fits); err != nil {
		return nil, err
	}
	return a, nil
}

// savedLinks is a model of links, and what it is used on.
type savedLinks struct {
	model *models.Predictor
	net   *Autoencoder
	data  *datasets.Dataset
	users int    // nodes before it are users, the others items; 0: any two nodes may be linked
	task  *Links // its links, divided; nil: all are known
}

// Model is a model of links in a file.
type Model struct{ *task.SavedFlags }

// open reads the model and its graph, whose links are divided as they were in training. Where they are only predicted, all
// links of other data than that of the training are known, so that what is said of a node does not depend on a division.
func (f *Model) open(e cli.Env, predicted bool) (*savedLinks, error) {
	if err := f.Divided("links"); err != nil {
		return nil, err
	}
	defer par.SetThreads(f.Threads)()
	a, model, err := loadAutoencoder(f.File)
	if err != nil {
		return nil, err
	}
	r := task.Origin{Dataset: a.Recipe.Dataset, Splits: source.SplitsOwn}
	at, err := f.Places(e, &r)
	if err != nil {
		return nil, err
	}
	in := append(source.DatasetFiles("--dataset", f.Data, at.Dataset), cli.File{Flag: "the model", Path: f.File})
	if err := cli.Apart(in, f.Outs); err != nil {
		return nil, err
	}
	own := f.Dataset == nil || r.Dataset == a.Recipe.Dataset
	d, err := openLinksAs(e, f.Data, at.Dataset, a, model, predicted && !own)
	if err != nil {
		return nil, err
	}
	task.Warn(e, d.Warnings)
	if a.Recipe.Model == modelLightGCN {
		if n := d.Graph.NumNodes(); n != a.In || d.users != a.Users {
			return nil, fmt.Errorf("%s is a model of %d nodes, of which %d are users (it was trained on %s); %s has %d and %d, and a row that is learnt is of one node: %s",
				f.File, a.In, a.Users, a.Recipe.Dataset, d.Name, n, d.users, f.Instead())
		}
		for v, id := range task.NodeIDs(d.Dataset) {
			if learnt := model.Learnt.IDs[v]; id != learnt {
				return nil, fmt.Errorf("%s is a model of nodes of which the one numbered %d is %.40q (it was trained on %s); in %s that is %.40q, and a row that is learnt is of one node: %s",
					f.File, v, learnt, a.Recipe.Dataset, d.Name, id, f.Instead())
			}
		}
	}
	if own {
		node.Changed(e, model, d.Dataset, at.Dataset)
	} else if predicted {
		a.Recipe.Dataset = r.Dataset
		return &savedLinks{model: model, net: a, data: d.Dataset, users: d.users}, nil
	}
	k, err := NewLinks(d, &a.Recipe, &model.Preparation)
	if err == nil && k.width() != a.In {
		err = fmt.Errorf("nodes have %d features, and the network reads %d", k.width(), a.In)
	}
	if err != nil {
		return nil, task.Unfit(err, f.File, model.Data.Name, d.Name)
	}
	a.Recipe.Dataset = r.Dataset
	return &savedLinks{model, a, d.Dataset, d.users, k}, nil
}

// openLinksAs reads the graph that a model of links is used on, whose columns become what they were in training. In order it is the
// same in whatever order its files have rows.
func openLinksAs(e cli.Env, dir, name string, a *Autoencoder, p *models.Predictor, ordered bool) (Source, error) {
	if p.Schema == nil || slices.Contains(datasets.Names(), name) || source.InteractionsIn(dir, name) != "" {
		return cli.Reading(e, name, func() (Source, error) { return ReadLinks(dir, name, a.Recipe.Model, a.Recipe.Columns) })
	}
	raw, err := node.ReadRows(e, dir, name, p)
	if err != nil {
		return Source{}, err
	}
	if ordered {
		raw = raw.Ordered().Raw
	}
	d, err := datasets.From(raw, p.Schema)
	return Source{Dataset: d}, err
}

// linkScored is how good a saved model of links is.
type linkScored struct {
	Event   string  `json:"event"` // "eval"
	File    string  `json:"file"`
	Dataset string  `json:"dataset"`
	Model   string  `json:"model"`
	ValAUC  float64 `json:"val_auc"`
	ValAP   float64 `json:"val_average_precision"`
	TestAUC float64 `json:"test_auc"`
	TestAP  float64 `json:"test_average_precision"`
	linkQuality
}

// Embed returns what the network has learnt of the nodes.
func (f *Model) Embed(e cli.Env, _ []string) (*models.Embeddings, error) {
	s, err := f.open(e, true)
	if err != nil {
		return nil, err
	}
	defer report.NewProgress(e.ErrOut).During("computing the rows of the nodes")()
	return s.model.EmbedOf(s.data, models.Query{})
}

// Eval scores a saved model on the links that validate and test.
func (f *Model) Eval(e cli.Env) (question string, err error) {
	s, err := f.open(e, false)
	if err != nil {
		return "", err
	}
	defer par.SetThreads(f.Threads)()
	k := s.task
	line := linkScored{Event: "eval", File: f.File, Dataset: s.net.Recipe.Dataset, Model: s.net.Recipe.Model}
	progress := report.NewProgress(e.ErrOut)
	stop := progress.During("ranking " + report.Grouped(min(k.Test.Links.NumEdges(), rankedMost)) + " links")
	defer stop()
	line.ValAUC, line.ValAP = k.measure(grad.NewEval(), s.net, k.Val)
	line.TestAUC, line.TestAP = k.measure(grad.NewEval(), s.net, k.Test)
	line.linkQuality = k.quality(grad.NewEval(), s.net, progress)
	stop()
	p := report.NewPrinter(e.Out)
	if f.JSON {
		p.Encode(line)
		return " --nodes " + cli.Word(task.NodeIDs(s.data)[0]), p.Err()
	}
	p.Printf("%s on %s\n\n%-10s  %6s  %-8s  %s\n", s.net.String(), s.data.Name, "", "links", "AUC", "average precision")
	p.Printf("%-10s  %6d  %6.2f %%  %6.2f %%\n", "validation", k.Val.Links.NumEdges(), 100*line.ValAUC, 100*line.ValAP)
	p.Printf("%-10s  %6d  %6.2f %%  %6.2f %%\n\n", "test", k.Test.Links.NumEdges(), 100*line.TestAUC, 100*line.TestAP)
	p.Printf("MRR                %6.3f\nhits@1, 3, 10      %6.1f %%, %.1f %%, %.1f %%\n", line.TestMRR, 100*line.Hits1, 100*line.Hits3, 100*line.Hits10)
	p.Printf("recall@20, NDCG@20 %6.1f %%, %.1f %%\n\n", 100*line.Recall, 100*line.NDCG)
	p.Paragraph("%s", k.ranked())
	return " --nodes " + cli.Word(task.NodeIDs(s.data)[0]), p.Err()
}
