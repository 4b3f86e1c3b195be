// Package suite lists all benchmarks, a line a family.
package suite
