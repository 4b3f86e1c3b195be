// Package weights brings the Params of a model to the tensors of a file and back, for what saves models and their
// training. Its noun is [Place], an array and its name.
package weights
