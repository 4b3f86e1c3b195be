package node

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
)

// presets are whose settings there are. Which of them a training without --preset
// has the data decides: see Examples.Suits.
var presets = []string{"quick", "paper", "dgl", "pyg", "shchur", "graphsaint", PresetTuned, PresetDeep}

// slowStart is how long a training waits for a lower loss under the settings of
// Shchur and others. They have 50 epochs; but before a network begins to learn it
// may need a hundred: with 50, three of twenty trainings of GAT and as many of MLP
// on Amazon Photo end where they began.
const slowStart = 200

// NewRecipe returns what a preset says for a model on a dataset. "quick" is
// "paper" with another end: 200 epochs, of which the best by validation accuracy
// is kept.
//
// "shchur" is what Shchur, Mumme, Bojchevski and Günnemann, "Pitfalls of graph
// neural network evaluation", 2018, chose for each model by a search on Cora and
// CiteSeer, and used for all datasets: the files config/optimized and
// config/train.conf.yaml of their program, shchur/gnn-benchmark. GCN, GAT and MLP
// are theirs, but for slowStart; the other models have those of the one that is
// like them. Their features are binary.
//
// "graphsaint" is the width, dropout, rate and decay (none) that Zeng and others,
// "GraphSAINT", ICLR 2020, give for Flickr: train_config/neurips/flickr2_n.yml of
// their program, and train_config/explore/flickr2_gat.yml for attention. They train
// on samples of the graph, normalise layers and standardise features; here all
// nodes train at once, and the end of the training is our choice.
//
// "tuned" is what Luo, Shi and Wu, "Classic GNNs are strong baselines", NeurIPS 2024, found for each of some networks
// and datasets: see tunedRows.
//
// "deep" is what models.Advise says, which Examples.Preset adds.
func NewRecipe(preset, model, dataset string) (Recipe, error) {
	r := Recipe{
		Dataset: dataset, Splits: source.SplitsOwn, Preset: preset, Model: model,
		Decayed: DecayAll, Start: models.StartGlorot, Select: "accuracy", Epochs: 200, Rows: RowsNeeded,
	}
	if _, err := FindModel(model); err != nil {
		return r, err
	}
	m, err := models.Named(model)
	if err != nil {
		return r, err
	}
	own := models.SettingsOf(m)
	r.Hidden, r.Layers, r.Heads, r.OutHeads, r.Dropout = own.Hidden, own.Layers, own.Heads, own.OutHeads, grad.Preset(own.Dropout, 0)
	if err := cli.OneOf("--preset", preset, presets); err != nil {
		return r, err
	}
	if preset == "dgl" {
		r.Select = "last"
	}
	if preset == PresetTuned {
		r.tune()
	} else {
		presetOf(model)(&r)
	}
	switch preset {
	case "shchur":
		r.Select, r.Patience, r.Epochs = "loss", slowStart, 100_000
	case "graphsaint":
		r.Patience, r.Epochs = 100, 500
	}
	if r.AttnDrop == 0 && preset != PresetTuned { // the preset has no other
		r.AttnDrop = r.Dropout
	}
	return r, nil
}

// PresetTuned is the preset of deeper networks with norms and residuals.
const PresetTuned = "tuned"

// TunedOn are the datasets of tunedRows.
var TunedOn = []struct {
	Name, Title string
	Splits      string // the file of the official split; empty: the data has its own, which several seeds take in turn
	Form        task.Form
	Metric      string // that --select names
}{
	{"amazon_computers", "Computers", "amazon-computer_split.npz", task.FormRows, "accuracy"},
	{"amazon_photo", "Photo", "amazon-photo_split.npz", task.FormRows, "accuracy"},
	{"coauthor_cs", "CS", "coauthor-cs_split.npz", task.FormBinaryRows, "accuracy"}, // PyG's loader makes its counts ones
	{"coauthor_physics", "Physics", "coauthor-physics_split.npz", task.FormBinaryRows, "accuracy"},
	{"minesweeper", "Minesweeper", "", task.FormRaw, "auc"},
	{"chameleon_filtered", "Chameleon (filtered)", "", task.FormRaw, "accuracy"},
}

// TunedRow is what was found for a network on a dataset, and the score that was published, in per cent.
type TunedRow struct {
	Dataset, Model  string
	layers, hidden  int
	lr, decay, drop float64
	norm            models.Norm
	residual        bool
	Epochs          int
	Mean, Deviation float64
}

// TunedRows are the networks of LUOyk1999/tunedGNN, medium_graph/run_gnn.sh, with the scores of the paper. Their graphs have both
// directions of each edge and loops, their residuals a matrix each, and a linear layer stands at the end. Attention has one head
// and no dropout. Adam decays all Params.
var TunedRows = []TunedRow{
	{"amazon_computers", "gcn", 3, 512, 1e-3, 5e-5, 0.5, models.NormLayer, false, 1000, 93.99, 0.12},
	{"amazon_computers", "sage", 4, 64, 1e-3, 5e-5, 0.3, models.NormLayer, false, 1000, 93.25, 0.14},
	{"amazon_computers", "gat", 2, 64, 1e-3, 5e-5, 0.5, models.NormLayer, false, 1000, 94.09, 0.37},
	{"amazon_photo", "gcn", 6, 256, 1e-3, 5e-5, 0.5, models.NormLayer, true, 1000, 96.10, 0.46},
	{"amazon_photo", "sage", 6, 64, 1e-3, 5e-5, 0.2, models.NormLayer, true, 1000, 96.78, 0.23},
	{"amazon_photo", "gat", 3, 64, 1e-3, 5e-5, 0.5, models.NormLayer, true, 1000, 96.60, 0.33},
	{"coauthor_cs", "gcn", 2, 512, 1e-3, 5e-4, 0.3, models.NormLayer, true, 1500, 96.17, 0.06},
	{"coauthor_cs", "sage", 2, 512, 1e-3, 5e-4, 0.5, models.NormLayer, true, 1500, 96.38, 0.11},
	{"coauthor_cs", "gat", 1, 256, 1e-3, 5e-4, 0.3, models.NormLayer, true, 1500, 96.21, 0.14},
	{"coauthor_physics", "gcn", 2, 64, 1e-3, 5e-4, 0.3, models.NormLayer, true, 1500, 97.46, 0.10},
	{"coauthor_physics", "sage", 2, 64, 1e-3, 5e-4, 0.7, models.NormBatch, true, 1500, 97.19, 0.05},
	{"coauthor_physics", "gat", 2, 256, 1e-3, 5e-4, 0.7, models.NormBatch, true, 1500, 97.25, 0.06},
	{"minesweeper", "gcn", 12, 64, 1e-2, 0, 0.2, models.NormBatch, true, 2000, 97.86, 0.24},
	{"minesweeper", "sage", 15, 64, 1e-2, 0, 0.2, models.NormBatch, true, 2000, 97.77, 0.62},
	{"minesweeper", "gat", 15, 64, 1e-2, 0, 0.2, models.NormBatch, true, 2000, 97.73, 0.73},
	{"chameleon_filtered", "gcn", 5, 512, 5e-3, 1e-3, 0.2, "", false, 200, 46.29, 3.40},
	{"chameleon_filtered", "gat", 2, 256, 1e-2, 1e-3, 0.7, models.NormBatch, true, 200, 44.13, 4.17},
}

// tunedElsewhere stands for the networks and datasets that tunedRows does not have.
var tunedElsewhere = TunedRow{
	layers: 3, hidden: 256, lr: 1e-3, decay: 5e-5, drop: 0.5, norm: models.NormLayer, residual: true, Epochs: 1000,
}

// stemOf is what a dataset is called whose file may be named.
func stemOf(dataset string) string {
	return strings.ToLower(strings.TrimSuffix(filepath.Base(dataset), ".npz"))
}

// tune gives r the settings of its row.
func (r *Recipe) tune() {
	row, stem := tunedElsewhere, stemOf(r.Dataset)
	if i := slices.IndexFunc(TunedRows, func(t TunedRow) bool { return t.Dataset == stem && t.Model == r.Model }); i >= 0 {
		row = TunedRows[i]
	} else {
		r.Patience = slowStart
	}
	for _, d := range TunedOn {
		if d.Name == stem {
			r.Undirected, r.Select = true, d.Metric
		}
	}
	m := r.Traits()
	r.Layers, r.Hidden, r.Heads, r.OutHeads, r.Dropout, r.AttnDrop = row.layers, row.hidden, 1, 1, row.drop, 0
	r.LR, r.WeightDecay, r.Epochs = row.lr, row.decay, row.Epochs
	if Takes(m, "norm") {
		r.Norm, r.Linear, r.Output = row.norm, row.residual, true
	}
}

// presetOf returns what sets, of a recipe that has the sizes of a model's paper, what its preset says besides.
func presetOf(model string) func(r *Recipe) {
	switch model {
	case "gat", "gatv2", "transformer":
		return likeGAT
	case "supergat":
		return likeSuperGAT
	case "sgc":
		return likeSGC
	case "appnp":
		return likeAPPNP
	case modelH2GCN:
		return likeH2GCN
	case "gcn2":
		return likeGCN2
	}
	return likeGCN
}

// likeGAT is what graph attention's paper chose, and what the examples of the
// frameworks make of it.
func likeGAT(r *Recipe) {
	r.LR, r.WeightDecay = 5e-3, 5e-4
	switch r.Preset {
	case "quick", "paper":
		// The authors' program, not their paper, says this: each head's weights are
		// drawn for themselves, what attention sums is dropped as well, and biases
		// decay like the rest (it means to spare them, by names that none has).
		r.Start, r.ValueDrop = models.StartHeads, r.Model == "gat"
		if r.Dataset == "pubmed" {
			r.OutHeads, r.LR, r.WeightDecay = 8, 1e-2, 1e-3
		}
	case "dgl":
		r.Start = models.StartNormal
	case "pyg":
		if r.Dataset == "pubmed" {
			r.OutHeads = 8
		}
	case "shchur":
		r.Start, r.ValueDrop = models.StartHeads, r.Model == "gat"
		r.AttnDrop, r.LR, r.WeightDecay, r.Decayed = 0.3, 1e-2, 1e-2, decayWeights
	case "graphsaint":
		r.Hidden, r.Dropout, r.LR, r.WeightDecay = 32, 0.2, 1e-2, 0 // 256 in all
	}
	if r.Preset == "paper" {
		// The paper looks at loss and accuracy, its program keeps by either; the loss
		// alone depends less on single ones of the few nodes that validate.
		r.Select, r.Patience, r.Epochs = "loss", 100, 100_000
	}
}

// likeGCN is what graph convolution's paper chose for itself and for the
// perceptron it is compared with.
func likeGCN(r *Recipe) {
	r.LR, r.WeightDecay, r.Decayed = 1e-2, 5e-4, DecayFirst
	switch r.Preset {
	case "quick", "paper":
		r.NoBias = r.Model == "gcn" || r.Model == "mlp"
	case "dgl":
		r.Decayed = DecayAll
	case "shchur":
		r.Hidden, r.Dropout, r.WeightDecay = 64, 0.8, 1e-3
		if r.Model == "mlp" {
			r.LR, r.WeightDecay, r.Decayed = 5e-3, 1e-2, decayWeights
		}
	case "graphsaint":
		r.Hidden, r.Dropout, r.WeightDecay, r.Decayed = 256, 0.2, 0, DecayAll
	}
	if r.Preset == "paper" {
		r.Select, r.Patience = "last", 10
	}
}

// likeSGC is one layer of two hops, with what the authors' program starts from;
// their paper then tunes the decay for each dataset.
func likeSGC(r *Recipe) {
	r.LR, r.WeightDecay, r.Epochs = 0.2, 5e-6, 100
}

// likeAPPNP is what APPNP's paper chose for all of its datasets.
func likeAPPNP(r *Recipe) {
	r.LR, r.WeightDecay, r.Decayed = 1e-2, 5e-3, DecayFirst
}

// likeSuperGAT is GAT's settings with the last layer and the length of the authors'.
func likeSuperGAT(r *Recipe) {
	likeGAT(r)
	r.Epochs = max(r.Epochs, 500)
}

// likeH2GCN is what H2GCN's paper chose for most of its datasets of few nodes.
func likeH2GCN(r *Recipe) {
	r.LR, r.WeightDecay = 1e-2, 5e-4
	if r.Preset == "paper" {
		r.Epochs, r.Patience = 2000, 200
	}
}

// likeGCN2 is what GCNII's paper chose for Cora, but that it has 64 convolutions there,
// and for these a decay of 1e-2 of their own: for the dense layers that is too much.
func likeGCN2(r *Recipe) {
	r.LR, r.WeightDecay = 1e-2, 5e-4
	if r.Preset == "paper" {
		r.Select, r.Patience, r.Epochs = "loss", 100, 1500
	}
}
