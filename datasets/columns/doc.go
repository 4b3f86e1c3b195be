// Package columns says how columns of tables become features and labels, learns what that needs from the rows that
// train, and keeps it, so that tomorrow's rows are read in the same way.
//
//	s, err := columns.Choose(raw, columns.Roles{Label: []string{"churned"}})
//	err = s.Fit(raw, columns.Rows{Nodes: train}) // words, fills, origins of times, classes
//	a, err := s.Apply(tomorrow)                  // features, labels and warnings of any rows
//
// Its noun is [Schema], which is kept in model files as JSON. [Roles] say what a user wants of the columns; [Choose] decides the rest by
// the files' form, the columns' names and their contents. A column becomes features by its [Encoding]: numbers are standardised, words have a
// feature each or are codes, times are days and cycles, texts the weights of their words. [Schema.Says] tells people what was chosen.
//
// A column that is missing, renamed or of another type is an error that names what was fitted and what was found. A word that was not
// seen counts as none, an empty number as the median of the rows that train. [Applied].Warnings counts both where the rows that train had no such cells.
// What does not depend on rows, as that a column is an id, follows from all of them; what is learnt comes from those that train.
//
// Programs seldom call this package themselves: datasets.From and models.Predictor do.
package columns
