package train

import "github.com/edgewise-ml/edgewise/grad"

// Norm is [grad.Grads.Norm].
func Norm(g grad.Grads) float64 { return g.Norm() }

// ClipNorm is [grad.Grads.ClipNorm].
func ClipNorm(g grad.Grads, limit float64) float64 { return g.ClipNorm(limit) }

// ClipValue is [grad.Grads.ClipValue].
func ClipValue(g grad.Grads, limit float64) { g.ClipValue(limit) }
