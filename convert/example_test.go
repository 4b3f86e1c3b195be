package convert_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A model that was trained with PyG: torch_geometric.nn.GAT(4, 6, num_layers=2,
// out_channels=3, heads=2). PyG's GATConv adds the loops, here they are the graph's.
func ExampleModules_Load() {
	rng := rand.New(rand.NewPCG(1, 1))
	first := &layers.GATConv{In: 4, Out: 3, Heads: 2, Activation: grad.ReLU}
	last := &layers.GATConv{In: 6, Out: 3, Heads: 2, Average: true}
	first.Init(rng)
	last.Init(rng)

	state, err := convert.Load("testdata/pyg.pt", "model") // the file has more than one dictionary
	if err != nil {
		fmt.Println(err)
		return
	}
	net := convert.Modules{"convs.0": first, "convs.1": last}
	if err := net.Load(convert.PyG, state.Under("model")); err != nil {
		fmt.Println(err)
		return
	}
	g := graph.WithSelfLoops(graph.Must(graph.New(5, []int32{1, 3, 0, 2, 4, 1, 3, 0, 2, 4, 1, 3}, []int32{0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4})))
	inputs, err := convert.Load("testdata/pyg.pt", "inputs")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, x := grad.NewEval(), grad.Const(tensor.Of(inputs["x"].Data, 5, 4))
	logits := last.Forward(t, g, first.Forward(t, g, x)).Value()

	outputs, err := convert.Load("testdata/pyg.pt", "outputs")
	fmt.Printf("here  %.4f\nthere %.4f %v\n", logits.Row(0), outputs["model"].Data[:3], err)
	// Output:
	// here  [0.6522 0.3782 0.4753]
	// there [0.6522 0.3782 0.4753] <nil>
}

// A model that goes to DGL, where model.load_state_dict(safetensors.torch.load_file(path))
// takes it.
func ExampleModules_State() {
	rng := rand.New(rand.NewPCG(1, 1))
	conv, last := &layers.SAGEConv{In: 4, Out: 8}, &layers.Linear{In: 8, Out: 3}
	conv.Init(rng)
	last.Init(rng)

	state, err := convert.Modules{"conv": conv, "lin": last}.State(convert.DGL)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(state)
	dir, err := os.MkdirTemp("", "convert")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(convert.Save(filepath.Join(dir, "sage.safetensors"), state))
	// Output:
	// conv.fc_neigh.weight [8 4]
	// conv.fc_self.bias [8]
	// conv.fc_self.weight [8 4]
	// lin.bias [3]
	// lin.weight [3 8]
	// <nil>
}

// A state dict of another model: the error says how they differ.
func ExampleModules_Load_mismatch() {
	lin := &layers.Linear{In: 2, Out: 3}
	lin.Init(rand.New(rand.NewPCG(1, 1)))
	state, err := convert.Load("testdata/small.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(convert.Modules{"": lin}.Load(convert.PyTorch, state.Under("0")))
	// Output: convert: load: the state dict is not one of PyTorch of this model: bias is [2] there and [3] in the model, weight is [2 3] there and [3 2] in the model
}
