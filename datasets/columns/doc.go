// Package columns says how columns of tables become features and labels, learns what that needs from the rows that
// train, and keeps it, so that tomorrow's rows are read in the same way.
//
//	s, err := columns.Choose(raw, columns.Roles{Label: []string{"churned"}})
//	err = s.Fit(raw, columns.Rows{Nodes: train}) // words, fills, origins of times, classes
//	a, err := s.Apply(tomorrow)                  // features, labels and warnings of any rows
//
// Its noun is [Schema], which is kept in model files as JSON. [Roles] say what a user wants of the columns; [Choose] decides the rest by
// the files' form, the columns' names and their contents. A column becomes features by its [Encoding]: a number itself, a word a feature for
// each word that the rows that train have, a time the days since their earliest.
//
// A column that is missing, renamed or of another type is an error that names what was fitted and what was found. A word that was not
// seen counts as none, an empty number as the median of the rows that train, and both are counted in [Applied].Warnings.
//
// Programs seldom call this package themselves: datasets.From and models.Predictor do.
package columns
