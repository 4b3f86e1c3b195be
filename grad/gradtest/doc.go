// Package gradtest checks gradients against finite differences, in the manner
// of testing/fstest: hand it a function of Params, it fails the test for you.
//
//	x := grad.NewParam(3, 2)
//	gradtest.Check(t, []*grad.Param{x, layer.W}, func(t *grad.Tape) *grad.Var {
//		return layer.Forward(t, g, t.Use(x)).Square().Sum()
//	})
//
// Under the build tag f64 the check is sharp: a relative error of 1e-5 fails.
// In float32 the differences themselves are only good to a few per cent, so
// there a check finds blunders and nothing else: run it with -tags f64.
package gradtest
