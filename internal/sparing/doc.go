// Package sparing says how many cases of a test run. All do in the usual build. Where
// each takes several times as long, as under the race detector, some are enough: what
// they would find there depends little on the sizes.
package sparing
