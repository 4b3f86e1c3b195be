// Package sparing says how many cases of a test run, makes their operands in little time,
// and counts what they allocate in few runs. All cases run in the usual build, but those that repeat with more effort what
// others find: [Full]. Where each takes several times as long, as under the race detector, some are
// enough: what they would find there depends little on the sizes.
package sparing
