// Package node is the task of nodes: their classes, labels or numbers are learnt by a network that passes messages along the edges of one
// graph. Where the data says so, or --task edge, the same networks learn edges, with a head that reads the rows of both ends.
//
// Settings come from a preset, from flags and from the data, in this order: NewRecipe, then the fields that flags name, then
// [Examples], which is the data as networks read it. The recipe is saved with the model.
package node
