// Package attend writes the assembly of internal/simd/attend.
package attend
