package grad

import "math"

// Zero is a 0 that is meant, for fields whose zero value stands for a preset:
//
//	layers.GATConv{…, Slope: grad.Zero}  // ReLU; Slope 0 means 0.2
//	layers.APPNP{Alpha: grad.Zero}       // no way back; Alpha 0 means 0.1
//	train.Adam{…, Beta1: grad.Zero}      // no momentum; Beta1 0 means 0.9
//
// It is the smallest positive number, so it passes through JSON as it is, files
// that were saved without it keep their meaning, and a program that does not know
// it computes the same. [Preset] makes it 0.
const Zero = math.SmallestNonzeroFloat64

// Preset returns what a field says whose zero value stands for preset: preset if
// v is 0, 0 if v is [Zero], else v.
func Preset(v, preset float64) float64 {
	switch v {
	case 0:
		return preset
	case Zero:
		return 0
	}
	return v
}
