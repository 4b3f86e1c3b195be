// Package trainings has the benchmarks of trainings and of what they wait for: whole epochs, epochs
// without something that makes them fast, steps on samples, random walks and the reading of files.
//
// What is trained, and how, is the command's own: it hands in a Source.
package trainings
