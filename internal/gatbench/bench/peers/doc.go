// Package peers opens what the command can read and train for the benchmarks: graphs of any form, and
// trainings with the settings of the peers' scripts.
package peers
