package main

import (
	"io"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const ok = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"skip","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	tests := []struct{ name, in, want, err string }{
		{"passed", ok, "ok  \tp\t0.1s\n1 passed, 0 failed, 1 skipped\n", ""},
		{"nothing", "", "0 passed, 0 failed, 0 skipped\n", "no test ran"},
		{"only skipped", `{"Action":"skip","Package":"p","Test":"B"}`, "0 passed, 0 failed, 1 skipped\n", "no test ran"},
		{"failed", `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"A","Output":"a.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p"}
`, "FAIL  p\na.go:1: wrong\nFAIL\n0 passed, 1 failed, 0 skipped\n", "1 tests failed, in 1 packages"},
		{"build failed", ok + `{"ImportPath":"q","Action":"build-output","Output":"q.go:1: undefined\n"}
{"ImportPath":"q","Action":"build-fail"}
{"Action":"start","Package":"q"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
`, "ok  \tp\t0.1s\nq.go:1: undefined\nBUILD q\nFAIL  q\n1 passed, 0 failed, 1 skipped\n", "0 tests failed, in 1 packages"},
		{"cut", ok + `{"Action":"start","Package":"q"}
{"Action":"output","Package":"q","Test":"A","Output":"panic: x\n"}
`, "ok  \tp\t0.1s\nCUT   q\npanic: x\n1 passed, 0 failed, 1 skipped\n", "0 tests failed, in 1 packages"},
		{"plain text", ok + "go: no such module\n", "ok  \tp\t0.1s\ngo: no such module\n1 passed, 0 failed, 1 skipped\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			err := run(strings.NewReader(tt.in), &out, io.Discard)
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
			if got := errText(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
		})
	}
}

// Tests of a second and more are listed with their times, not their parts.
func TestTimes(t *testing.T) {
	const in = `{"Action":"start","Package":"p"}
{"Action":"pass","Package":"p","Test":"A/x","Elapsed":3}
{"Action":"pass","Package":"p","Test":"A","Elapsed":3.25}
{"Action":"pass","Package":"p","Test":"B","Elapsed":0.9}
{"Action":"pass","Package":"p","Elapsed":5}
`
	var times strings.Builder
	if err := run(strings.NewReader(in), io.Discard, &times); err != nil {
		t.Fatal(err)
	}
	if got, want := times.String(), "    3.2  p A\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
