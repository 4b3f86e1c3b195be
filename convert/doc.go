// Package convert brings weights from and to PyTorch, PyG and DGL.
//
// Its nouns are [State], a state dict: arrays by name, and [Modules], which says
// what layer stands under which name there:
//
//	state, err := convert.Load("gat.pt") // or .safetensors, or .npz
//	net := convert.Modules{"conv1": first, "conv2": second, "lin": last}
//	err = net.Load(convert.PyG, state)
//
// and back, for load_state_dict there:
//
//	state, err := net.State(convert.PyG)
//	err = convert.Save("gat.safetensors", state)
//
// Load and Save take a path; [Read] and [Write] are the same for streams.
//
// The names, the axes and the order of gates are those of the framework: its
// linear layers keep their weights out×in, ours in×out; its recurrent networks have
// two biases, of which ours is the sum. What a state dict lacks, what it has
// besides, and what has another shape is an error that lists it all, and then the
// model stays as it was. So is a layer that the framework does not have.
//
// [GraphConv] and [Knowledge] say what a layer alone does not: which class it is there, and
// what else stands in the same module.
//
// A state dict holds weights and no code. What a layer computes is said by its
// fields, which are set as in the class there: docs/library/from-pyg.md and docs/library/from-dgl.md
// name them. A file of PyTorch is a zip archive with a pickle, which is a program;
// package internal/pickle reads those of plain arrays alone and runs nothing.
package convert
