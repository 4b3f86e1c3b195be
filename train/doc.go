// Package train fits models: optimisers, a training loop, metrics and files of
// trained models. It knows no layers and no graphs; a model is any struct whose
// exported fields lead to Params.
//
//	fit := &train.Fit{
//		Model:     net,
//		Optimiser: &train.Adam{LR: 5e-3, WeightDecay: 5e-4},
//		Seed:      1,
//		Epochs:    200,
//		Loss: func(t *grad.Tape) *grad.Var {
//			return net.Forward(t, g, x).Rows(split.Train).CrossEntropy(trainLabels)
//		},
//		Eval: func(t *grad.Tape) train.Scores {
//			logits := net.Forward(t, g, x).Value()
//			return train.Scores{Val: train.Measure(logits, labels, split.Val)}
//		},
//	}
//	history, err := fit.Run(ctx)
//
// [Fit] owns the order of things: which epoch counts as the best, when to stop,
// what is restored at the end. A model that wants another order writes its own
// loop; it is a dozen lines on [grad.Tape].
//
// [Save] writes a model as one safetensors file, [Load] reads it back, and
// [LoadConfig] reads only the struct, so that a model can be rebuilt first.
// A file holds no optimiser state: a run cannot be resumed from it, only used.
//
// Same seed, same bits: nothing here draws random numbers of its own.
package train
