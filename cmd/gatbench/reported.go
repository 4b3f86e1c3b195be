package main

// figure is a published test accuracy in per cent; std 0 means that none was
// given.
type figure struct{ mean, std float64 }

// reported is what others report for the Planetoid split: the paper that the
// settings are of, and the frameworks' own reproductions, which are those of
// DGL's examples and of PyG's benchmark (fixed split, 100 runs). A zero is a
// figure that none was published for.
var reported = map[string]map[string]struct{ paper, dgl, pyg figure }{
	"gat": {
		"cora":     {paper: figure{83.0, 0.7}, dgl: figure{82.1, 0}, pyg: figure{83.1, 0.4}},
		"citeseer": {paper: figure{72.5, 0.7}, dgl: figure{71.0, 0}, pyg: figure{70.8, 0.5}},
		"pubmed":   {paper: figure{79.0, 0.3}, dgl: figure{78.0, 0}, pyg: figure{78.5, 0.3}},
	},
	"gcn": {
		"cora":     {paper: figure{81.5, 0}, dgl: figure{81.0, 0}, pyg: figure{81.5, 0.6}},
		"citeseer": {paper: figure{70.3, 0}, dgl: figure{70.7, 0}, pyg: figure{71.1, 0.7}},
		"pubmed":   {paper: figure{79.0, 0}, dgl: figure{79.2, 0}, pyg: figure{79.0, 0.6}},
	},
	"mlp": {
		"cora":     {paper: figure{55.1, 0}},
		"citeseer": {paper: figure{46.5, 0}},
		"pubmed":   {paper: figure{71.4, 0}},
	},
}
