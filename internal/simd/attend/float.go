package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Float is the element of all arrays: float32, or float64 in a build with the tag f64.
type Float = cpu.Float
