package report

import "fmt"

// figure is a published test accuracy in per cent; std 0 means that none was
// given.
type figure struct{ mean, std float64 }

// figures are those of one model and dataset, by who published them.
type figures struct{ paper, dgl, pyg figure }

// Published says on which splits the figures beside a row were reached.
type Published int

// The splits for which figures were published.
const (
	NonePublished Published = iota
	OnPlanetoid             // that of each citation dataset
	OnShchur                // random ones of Shchur and others, 2018
)

// published returns the figures of a model on a dataset, zeros where there are none.
func published(on Published, model, dataset string) figures {
	switch on {
	case OnPlanetoid:
		return reported[model][dataset]
	case OnShchur:
		return figures{paper: reportedShchur[model][dataset]}
	}
	return figures{}
}

// String is mean ± std, or a dash.
func (f figure) String() string {
	switch {
	case f == figure{}:
		return "–"
	case f.std == 0:
		return fmt.Sprintf("%.1f", f.mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", f.mean, f.std)
}

// reported is what others report for the Planetoid split. A zero is a figure
// that none was published for, or of which no source could be looked up.
//
// Paper: Veličković and others, "Graph Attention Networks", ICLR 2018, table 2;
// GCN and MLP there are of Kipf and Welling, ICLR 2017.
//
// DGL: what the README files of its examples/pytorch/gat and examples/pytorch/gcn
// sum up, each with a "~" before it.
//
// PyG: Fey and Lenssen, "Fast Graph Representation Learning with PyTorch
// Geometric", 2019, table 1, fixed split, 100 runs, as far as it was found quoted:
// GCN on Cora, and in PyG's issue 2251 the means of GAT on CiteSeer and PubMed.
var reported = map[string]map[string]figures{
	"gat": {
		"cora":     {paper: figure{83.0, 0.7}, dgl: figure{82.1, 0}},
		"citeseer": {paper: figure{72.5, 0.7}, dgl: figure{71.0, 0}, pyg: figure{70.8, 0}},
		"pubmed":   {paper: figure{79.0, 0.3}, dgl: figure{78.0, 0}, pyg: figure{78.5, 0}},
	},
	"gcn": {
		"cora":     {paper: figure{81.5, 0}, dgl: figure{81.0, 0}, pyg: figure{81.5, 0.6}},
		"citeseer": {paper: figure{70.3, 0}, dgl: figure{70.7, 0}},
		"pubmed":   {paper: figure{79.0, 0}, dgl: figure{79.2, 0}},
	},
	"mlp": {
		"cora":     {paper: figure{55.1, 0}},
		"citeseer": {paper: figure{46.5, 0}},
		"pubmed":   {paper: figure{71.4, 0}},
	},
}

// reportedShchur is what is reported for random splits of 20 training and 30
// validation nodes a class on the largest component: Shchur, Mumme, Bojchevski and
// Günnemann, "Pitfalls of graph neural network evaluation", 2018, over 100 splits
// with 20 first weights each.
var reportedShchur = map[string]map[string]figure{
	"gat": {
		"cora": {81.8, 1.3}, "citeseer": {71.4, 1.9}, "pubmed": {78.7, 2.3},
		"coauthor_cs": {90.5, 0.6}, "coauthor_physics": {92.5, 0.9}, "amazon_computers": {78.0, 19.0}, "amazon_photo": {85.7, 20.3},
	},
	"gcn": {
		"cora": {81.5, 1.3}, "citeseer": {71.9, 1.9}, "pubmed": {77.8, 2.9},
		"coauthor_cs": {91.1, 0.5}, "coauthor_physics": {92.8, 1.0}, "amazon_computers": {82.6, 2.4}, "amazon_photo": {91.2, 1.2},
	},
	"mlp": {
		"coauthor_cs": {88.3, 0.7}, "coauthor_physics": {88.9, 1.1}, "amazon_computers": {44.9, 5.8}, "amazon_photo": {69.6, 3.8},
	},
}
