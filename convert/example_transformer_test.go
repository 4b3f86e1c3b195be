package convert_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// A whole model around PyTorch's nn.Transformer: what is not in it, the tables of words, is
// named beside it. The output is tied to the targets' words, so one Param has two names.
func ExampleModules_transformer() {
	model := &attention.Transformer{Block: attention.Block{Model: 4, Heads: 2, Hidden: 8}, Source: 7, Target: 6, Encoders: 1, Decoders: 1}
	model.Init(rand.New(rand.NewPCG(1, 2)))

	state, err := convert.Load("testdata/torch.pt", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	net := convert.Modules{
		"src.weight": model.SourceWords, "tgt.weight": model.Words, "out.weight": model.Words,
		"transformer.encoder": model.Encoder, "transformer.decoder": model.Decoder,
	}
	if err := net.Load(convert.PyTorch, state.Under("translator")); err != nil {
		fmt.Println(err)
		return
	}
	masks := attention.Pairs([]int{4}, []int{3})
	logits := model.Forward(grad.NewEval(), masks, []int32{3, 1, 5, 2}, []int32{0, 4, 2}).Value()

	outputs, err := convert.Load("testdata/torch.pt", "outputs")
	fmt.Printf("here  %.4f\nthere %.4f %v\n", logits.Row(2), outputs["translator"].Data[12:], err)
	// Output:
	// here  [-0.0773 0.3036 -0.0371 -0.1639 0.1768 -0.0178]
	// there [-0.0773 0.3036 -0.0371 -0.1639 0.1768 -0.0178] <nil>
}

// A language model with learned places, as it was saved by PyTorch.
func ExampleModules_languageModel() {
	block := attention.Block{Model: 4, Heads: 2, Hidden: 8, PreNorm: true, Activation: grad.GELU, Position: attention.Learned, Longest: 5}
	model := &attention.LanguageModel{Block: block, Tokens: 7, Depth: 2}
	model.Init(rand.New(rand.NewPCG(1, 2)))

	state, err := convert.Load("testdata/torch.pt", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	net := convert.Modules{"wte.weight": model.Words, "wpe.weight": model.Places, "lm_head.weight": model.Words, "blocks": model.Encoder}
	if err := net.Load(convert.PyTorch, state.Under("languagemodel")); err != nil {
		fmt.Println(err)
		return
	}
	logits := model.Forward(grad.NewEval(), graph.Causal(4), []int32{0, 3, 5, 1}).Value()

	outputs, err := convert.Load("testdata/torch.pt", "outputs")
	fmt.Printf("here  %.4f\nthere %.4f %v\n", logits.Row(3), outputs["languagemodel"].Data[21:], err)
	// Output:
	// here  [0.1893 -0.0110 0.1636 -0.1761 -0.0548 0.0732 0.0201]
	// there [0.1893 -0.0110 0.1636 -0.1761 -0.0548 0.0732 0.0201] <nil>
}
