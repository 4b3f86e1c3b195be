// Package tasktest runs the program in tests of tasks, and writes small data for them to learn.
package tasktest
