package cpu

import "testing"

func TestAsmPath(t *testing.T) {
	was := Path()
	t.Logf("kernels: %s", was) // .ci/run reads it
	undo := Disable()
	if Path() != "go" {
		t.Errorf("disabled, the path is %q", Path())
	}
	undo()
	if Path() != was {
		t.Errorf("enabled again, the path is %q, was %q", Path(), was)
	}
}
