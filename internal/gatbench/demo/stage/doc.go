// Package stage is what demos stand on: a Demo, the Stage that it shows on, a loop of training, and the numbers
// that come of it.
//
// All that a demo draws follows from hashes of its seed, of what is drawn and of the step, so two seeds
// share nothing. [Stage.Numbers] are what came of it, which several seeds are compared by.
package stage
