// Package source opens the data that a user names: a dataset that is known by its name, or a file or folder. It says what flags mean
// by the columns of tables and by a split.
package source
