// Package memories has demos of networks with a memory beside their state: Hopfield networks, fast weights, attention
// over pairs, tapes and stacks.
package memories
