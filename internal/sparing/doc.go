// Package sparing says how many cases of a test run, and makes their operands without
// much ado. All cases run in the usual build, but those that repeat with more effort what
// others find: [Full]. Where each takes several times as long, as under the race detector, some are
// enough: what they would find there depends little on the sizes.
package sparing
