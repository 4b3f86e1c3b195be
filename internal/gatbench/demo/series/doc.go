// Package series has demos of series of numbers and symbols: what a recurrent network remembers, and how it goes on.
package series
