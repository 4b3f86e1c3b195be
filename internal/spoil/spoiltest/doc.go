// Package spoiltest runs a package's tests in spoilt memory.
package spoiltest

import (
	"flag"
	"os"
	"runtime/debug"

	"github.com/edgewise-ml/edgewise/internal/spoil"
)

// collectAt is how far the heap of a test grows before it is collected, in percent: tests leave many small graphs
// behind them, in a heap so small that a collection is due every millisecond.
const collectAt = 400

// Main runs tests, but not benchmarks alone, in memory that is NaN until it is set, and exits:
//
//	func TestMain(m *testing.M) { spoiltest.Main(m) }
func Main(m interface{ Run() int }) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		spoil.On = true
		debug.SetGCPercent(collectAt)
	}
	os.Exit(m.Run())
}
