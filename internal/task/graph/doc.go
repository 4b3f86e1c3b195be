// Package graph is the task of whole graphs: one network for each seed where there is a split, or one for each fold.
package graph
