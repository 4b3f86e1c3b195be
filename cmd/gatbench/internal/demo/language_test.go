package demo

import "testing"

// What language learns of a page: its paragraphs, a line each, without marks.
func TestProse(t *testing.T) {
	page := "# A title\n\nTwo lines of\none **paragraph**, with `code` and [a link](to/it.md).\n\n![A picture](p.svg)\n\n```go\n\tx := 1\n\n\ty := 2\n```\n\n| a | table |\n|---|---|\n\n- A point.\n"
	if got, want := prose(page), "Two lines of one paragraph, with code and a link.\n- A point.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
