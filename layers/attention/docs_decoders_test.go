package attention_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The code of docs/models/decoders.md and of docs/models/captions.md is that of the examples.
func TestDecodersGuide(t *testing.T) {
	quotes(t, "decoders.md", "example_decoders_test.go")
	quotes(t, "captions.md", "example_captions_test.go")
}

// quotes fails unless every block of code of a page, of which there are three or more, is in a file.
func quotes(t *testing.T, page, file string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/models/" + page)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) < 3 {
		t.Fatalf("docs/models/%s has %d blocks of code", page, len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(examples), "\n"+b[1]) {
			t.Errorf("docs/models/%s quotes what is not in %s:\n%s", page, file, b[1])
		}
	}
}
