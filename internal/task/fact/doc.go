// Package fact is the task of facts, which are links of several kinds: scorers of heads, relations and tails.
package fact
