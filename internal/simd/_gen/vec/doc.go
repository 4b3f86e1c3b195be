// Package vec writes the assembly of internal/simd/vec.
package vec
