package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/train"
)

// The settings of the paper and of the frameworks' examples, as they are
// published.
func TestPresets(t *testing.T) {
	tests := []struct {
		preset, model, dataset string
		want                   Recipe
	}{
		{"quick", "gat", "cora", Recipe{Hidden: 8, Heads: 8, OutHeads: 1, Dropout: 0.6, LR: 5e-3, WeightDecay: 5e-4, ValueDrop: true, Decayed: DecayAll, Start: models.StartHeads, Select: "accuracy"}},
		{"quick", "gat", "pubmed", Recipe{Hidden: 8, Heads: 8, OutHeads: 8, Dropout: 0.6, LR: 1e-2, WeightDecay: 1e-3, ValueDrop: true, Decayed: DecayAll, Start: models.StartHeads, Select: "accuracy"}},
		{"paper", "gat", "pubmed", Recipe{Hidden: 8, Heads: 8, OutHeads: 8, Dropout: 0.6, LR: 1e-2, WeightDecay: 1e-3, ValueDrop: true, Decayed: DecayAll, Start: models.StartHeads, Select: "loss", Patience: 100, Epochs: 100_000}},
		{"dgl", "gat", "pubmed", Recipe{Hidden: 8, Heads: 8, OutHeads: 1, Dropout: 0.6, LR: 5e-3, WeightDecay: 5e-4, Decayed: DecayAll, Start: models.StartNormal, Select: "last"}},
		{"pyg", "gat", "pubmed", Recipe{Hidden: 8, Heads: 8, OutHeads: 8, Dropout: 0.6, LR: 5e-3, WeightDecay: 5e-4, Decayed: DecayAll, Start: models.StartGlorot, Select: "accuracy"}},
		{"quick", "gcn", "cora", Recipe{Hidden: 16, Heads: 1, OutHeads: 1, Dropout: 0.5, LR: 1e-2, WeightDecay: 5e-4, NoBias: true, Decayed: DecayFirst, Start: models.StartGlorot, Select: "accuracy"}},
		{"paper", "gcn", "cora", Recipe{Hidden: 16, Heads: 1, OutHeads: 1, Dropout: 0.5, LR: 1e-2, WeightDecay: 5e-4, NoBias: true, Decayed: DecayFirst, Start: models.StartGlorot, Select: "last", Patience: 10}},
		{"shchur", "gat", "amazon_photo", Recipe{Hidden: 8, Heads: 8, OutHeads: 1, Dropout: 0.6, AttnDrop: 0.3, LR: 1e-2, WeightDecay: 1e-2, ValueDrop: true, Decayed: decayWeights, Start: models.StartHeads, Select: "loss", Patience: 200, Epochs: 100_000}},
		{"shchur", "gcn", "amazon_photo", Recipe{Hidden: 64, Heads: 1, OutHeads: 1, Dropout: 0.8, LR: 1e-2, WeightDecay: 1e-3, Decayed: DecayFirst, Start: models.StartGlorot, Select: "loss", Patience: 200, Epochs: 100_000}},
		{"shchur", "mlp", "amazon_photo", Recipe{Hidden: 64, Heads: 1, OutHeads: 1, Dropout: 0.8, LR: 5e-3, WeightDecay: 1e-2, Decayed: decayWeights, Start: models.StartGlorot, Select: "loss", Patience: 200, Epochs: 100_000}},
		{"graphsaint", "sage", "flickr", Recipe{Hidden: 256, Heads: 1, OutHeads: 1, Dropout: 0.2, LR: 1e-2, Decayed: DecayAll, Start: models.StartGlorot, Select: "accuracy", Patience: 100, Epochs: 500}},
		{"graphsaint", "gat", "flickr", Recipe{Hidden: 32, Heads: 8, OutHeads: 1, Dropout: 0.2, LR: 1e-2, Decayed: DecayAll, Start: models.StartGlorot, Select: "accuracy", Patience: 100, Epochs: 500}},
		{"dgl", "gcn", "cora", Recipe{Hidden: 16, Heads: 1, OutHeads: 1, Dropout: 0.5, LR: 1e-2, WeightDecay: 5e-4, Decayed: DecayAll, Start: models.StartGlorot, Select: "last"}},
	}
	for _, tt := range tests {
		got, err := NewRecipe(tt.preset, tt.model, tt.dataset)
		if err != nil {
			t.Fatal(err)
		}
		tt.want.Dataset, tt.want.Splits, tt.want.Preset, tt.want.Model = tt.dataset, "planetoid", tt.preset, tt.model
		tt.want.Layers, tt.want.Rows = 2, RowsNeeded
		if tt.want.AttnDrop == 0 {
			tt.want.AttnDrop = tt.want.Dropout
		}
		if tt.want.Epochs == 0 {
			tt.want.Epochs = 200
		}
		if flag, mine, others := task.Differs(got, tt.want); flag != "" {
			t.Errorf("%s %s on %s: --%s is %s, want %s", tt.preset, tt.model, tt.dataset, flag, mine, others)
		}
	}
}

// Rows of the program that the paper is of: medium_graph/run_gnn.sh.
func TestTuned(t *testing.T) {
	for _, tt := range []struct{ model, dataset, says string }{
		{"gcn", "amazon_computers", "3 layers of 1×512, norm layer, residual false; dropout 0.5 and 0, rate 0.001, decay 5e-05 of all; 1000 epochs by accuracy"},
		{"gat", "dir/Coauthor_CS.npz", "1 layers of 1×256, norm layer, residual true; dropout 0.3 and 0, rate 0.001, decay 0.0005 of all; 1500 epochs by accuracy"},
		{"gat", "minesweeper", "15 layers of 1×64, norm batch, residual true; dropout 0.2 and 0, rate 0.01, decay 0 of all; 2000 epochs by auc"},
		{"gcn", "chameleon_filtered", "5 layers of 1×512, norm , residual false; dropout 0.2 and 0, rate 0.005, decay 0.001 of all; 200 epochs by accuracy"},
		{"gin", "other", "3 layers of 1×256, norm layer, residual true; dropout 0.5 and 0, rate 0.001, decay 5e-05 of all; 1000 epochs by accuracy"},
	} {
		r, err := NewRecipe(PresetTuned, tt.model, tt.dataset)
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d layers of %d×%d, norm %s, residual %v; dropout %v and %v, rate %v, decay %v of %s; %d epochs by %s",
			r.Layers, r.Heads, r.Hidden, r.Norm, r.Linear, r.Dropout, r.AttnDrop, r.LR, r.WeightDecay, r.Decayed, r.Epochs, r.Select)
		if got != tt.says || !r.Output || r.Undirected != (tt.dataset != "other") || (r.Patience > 0) != (tt.dataset == "other") {
			t.Errorf("%s on %s: %s, want %s; %+v", tt.model, tt.dataset, got, tt.says, r)
		}
	}
	r, err := NewRecipe(PresetTuned, "gcn2", "cora")
	if err == nil {
		_, err = NewNetwork(r, 5, 3) // which has no norms
	}
	if err != nil {
		t.Error(err)
	}
}

// Which Params decay, by the names that are spared.
func TestDecayed(t *testing.T) {
	for _, tt := range []struct {
		model, preset, spared string
	}{
		{"gat", "paper", ""},
		{"gat", "pyg", ""},
		{"gatv2", "paper", ""},
		{"gcn", "paper", "Layers.1.W"},
		{"gcn", "pyg", "Layers.0.B Layers.1.W Layers.1.B"},
	} {
		r, err := NewRecipe(tt.preset, tt.model, "cora")
		if err != nil {
			t.Fatal(err)
		}
		net, err := NewNetwork(r, 5, 3)
		if err != nil {
			t.Fatal(err)
		}
		var spared []string
		opt := r.Optimiser(net).(*train.Adam)
		for _, g := range opt.Groups {
			spared = append(spared, g.Match)
		}
		if got := strings.Join(spared, " "); got != tt.spared {
			t.Errorf("%s of %s spares %q, want %q", tt.model, tt.preset, got, tt.spared)
		}
		if err := opt.Bind(net); err != nil {
			t.Error(err)
		}
	}
}

// A decay of weights alone spares all that is added.
func TestDecayedWeights(t *testing.T) {
	r, err := NewRecipe("paper", "gatv2", "cora")
	if err != nil {
		t.Fatal(err)
	}
	r.Decayed = decayWeights
	net, err := NewNetwork(r, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	var spared []string
	for _, g := range r.Optimiser(net).(*train.Adam).Groups {
		spared = append(spared, g.Match)
	}
	if want := "Layers.0.BSrc Layers.0.BDst Layers.0.B Layers.1.BSrc Layers.1.BDst Layers.1.B"; strings.Join(spared, " ") != want {
		t.Errorf("spared are %q, want %q", spared, want)
	}
}

// A first value drawn as the dgl preset has it is wider than the paper's.
func TestStart(t *testing.T) {
	spread := func(preset string) float64 {
		r, err := NewRecipe(strings.Replace(preset, "heads", "paper", 1), "gat", "cora")
		if err != nil {
			t.Fatal(err)
		}
		if preset == "heads" {
			r.Start = models.StartHeads
		}
		net, err := NewNetwork(r, 1433, 7)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0
		for name, p := range grad.Params(net) {
			if name == "Layers.0.W" {
				for _, v := range p.Value.Data {
					sum += float64(v) * float64(v)
					n++
				}
			}
		}
		return sum / float64(n)
	}
	// 2·2/(in+out) and 2/(in+out): Glorot's variance, with gain √2 and with 1.
	if got, want := spread("dgl"), 4.0/(1433+64); got < 0.97*want || got > 1.03*want {
		t.Errorf("dgl: variance %g, want %g", got, want)
	}
	if got, want := spread("heads"), 2.0/(1433+8); got < 0.97*want || got > 1.03*want {
		t.Errorf("heads: variance %g, want %g", got, want)
	}
	if got, want := spread("pyg"), 2.0/(1433+64); got < 0.97*want || got > 1.03*want {
		t.Errorf("pyg: variance %g, want %g", got, want)
	}
}

func TestDescribe(t *testing.T) {
	for _, tt := range []struct {
		model, want string
		layers      int
	}{
		{"gat", "GAT, 8 heads of width 8, then 1 of width 7", 2},
		{"gat", "GAT, 1 head of width 7", 1},
		{"gat", "GAT, 2 layers with 8 heads of width 8, then 1 of width 7", 3},
		{"gcn", "GCN, layers of width 16, then 7", 2},
		{"mlp", "MLP, layers of width 16, then 16, then 7", 3},
	} {
		r, err := NewRecipe("paper", tt.model, "cora")
		if err != nil {
			t.Fatal(err)
		}
		r.Layers = tt.layers
		if got := describe(&r, 7, nil); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The flags of a recipe make it again.
func TestRecipeFlags(t *testing.T) {
	for _, line := range []string{
		"", "pubmed", "a/b.npz --splits random", "--preset pyg --model gcn", "--preset dgl --hidden 4 --dropout 0.5",
		"--preset shchur --features standard --attention-dropout 0.1", "--features raw --dropout 0.2 --attention-dropout 0.3",
		"--heads 4 --out-heads 2 --layers 3 --residual --lr 0.01 --weight-decay 0 --select loss --epochs 20 --patience 5 --batch 9", "--splits random --model mlp --lr 1e-05", "--epochs 3 --rows all", "--residual --norm batch --residual-linear --input 7 --output", "--preset tuned --model gcn --norm batch", "minesweeper --split-number each --preset tuned --model gcn --epochs 3", "--model sage --batch 9 --fanout 5,all",
	} {
		var f struct {
			Name              string `arg:"" optional:""`
			task.SettingFlags `embed:""`
		}
		p, err := kong.New(&f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Parse(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		if f.Name != "" {
			f.Dataset = &f.Name
		}
		r, err := (&Training{Flags: &task.Flags{SettingFlags: f.SettingFlags}}).fresh()
		if err != nil {
			t.Fatal(err)
		}
		usual, err := NewRecipe(r.Preset, r.Model, r.Dataset)
		if err != nil {
			t.Fatal(err)
		}
		usual.Preset = "quick"
		if got := strings.TrimSpace(r.flags(usual)); got != line {
			t.Errorf("the flags are %s, want %s", got, line)
		}
	}
}
