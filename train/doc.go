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
//			return net.Forward(t, g, x).Rows(split.Train).CrossEntropy(labels.Of(split.Train))
//		},
//		Eval: func(t *grad.Tape) train.Scores {
//			logits := net.Forward(t, g, x).Rows(split.Val).Value()
//			return train.Scores{Val: train.Measure(logits, labels.Of(split.Val))}
//		},
//	}
//	history, err := fit.Run(ctx)
//
// [Fit] runs the loop: it finds the best epoch, stops early and restores the best
// state at the end. A model that wants another order writes its own
// loop; it is a dozen lines on [grad.Tape].
//
// The optimisers are PyTorch's, with its defaults except the rate: [SGD], [Adam], [AdamW],
// [Adamax], [NAdam], [RAdam], [RMSprop], [Adagrad] and [Adadelta]. Each has a
// rate, a decay, [Group]s of Params with another rate or decay, and a [Schedule] that all
// rates are multiplied by. An LR of 0 trains nothing: there is no preset rate.
// [Nesterov] has a momentum that rises; PyTorch has none like it. An optimiser of
// another package can be checkpointed if it is a [StatefulOptimiser].
//
// [Save] writes a model as one safetensors file, [Load] reads it back, and
// [LoadConfig] reads only the struct, so that a model can be rebuilt first. A
// [Checkpoint], which a Fit writes by itself, holds the run as well: it goes on
// where it stopped or was killed, and ends with the same bits as if it had not.
// Files appear whole or not at all. Load and Save take a path; [Read], [ReadConfig]
// and [Write] are the same for streams.
//
// Scores are those of one label a row ([Measure], [Accuracy], [NewConfusion],
// [ClassAUC]) or of any number ([MeasureLabels], [CountLabels], [LabelAUC]); from
// [Counts] come precision, recall, [MicroF1] and [MacroF1]. Links and rankings have
// [AUC], [AveragePrecision], [Ranks] and [HitsAbove]; numbers [MeasureNumbers]. Scores
// of text are [BLEU], [CountChunks], [CountSpans], [ExactMatch] and
// [TokenAccuracy]; [TeacherForcing] says what a decoder in training is fed.
//
// Metrics take what losses take: labels[i] is of row i of the logits, and a row labelled
// [grad.NoLabel] does not count. Arrays that do not fit are a bug of the program and panic with
// a [*tensor.ShapeError], and so does a Fit without its parts. Settings that cannot be are
// errors of [Fit.Run] and of an optimiser's Bind, since flags and files say them as often as code.
//
// Same seed, same bits, on any number of threads: nothing here draws random
// numbers of its own but TeacherForcing, whose draws follow from seed, step and token.
package train
