// Package pointing has demos of pointer networks, whose answer is an order of what was read.
package pointing
