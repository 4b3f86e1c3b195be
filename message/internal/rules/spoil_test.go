package rules_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/spoil/spoiltest"
)

// TestMain runs the tests in spoilt memory.
func TestMain(m *testing.M) { spoiltest.Main(m) }
