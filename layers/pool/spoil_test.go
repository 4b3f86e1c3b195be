package pool_test

import (
	"flag"
	"os"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/spoil"
)

// TestMain runs the tests, but not benchmarks alone, in memory that is NaN until it is set.
func TestMain(m *testing.M) {
	flag.Parse()
	spoil.On = spoil.On || flag.Lookup("test.bench").Value.String() == ""
	os.Exit(m.Run())
}
