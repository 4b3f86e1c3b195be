package arch

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// readmeImports are the first lines of the README's program, which leaves them to the reader's editor.
const readmeImports = `package main

import (
	"fmt"
	"math/rand/v2"

	"` + module + `/datasets/cora"
	"` + module + `/grad"
	"` + module + `/graph"
	"` + module + `/layers"
	"` + module + `/message"
	"` + module + `/train"
)

`

// The program in the README is the first that a newcomer runs, so it has to
// compile and to learn. It is built as a package of this module that exists only
// in an overlay.
func TestReadme(t *testing.T) {
	text := read(t, "README.md")
	if !strings.Contains(text, "go get "+module) {
		t.Errorf("README.md does not say how a program gets the module: go get %s", module)
	}
	if lines := strings.Count(text, "\n"); lines > 80 {
		t.Errorf("README.md has %d lines, more than a newcomer reads: 80", lines)
	}
	block := goBlock.FindStringSubmatch(text)
	if block == nil {
		t.Fatal("README.md has no Go program")
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	replace := map[string]map[string]string{"Replace": {filepath.Join(top, "internal", "arch", "readme", "main.go"): file}}
	content, err := json.Marshal(replace)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: []byte(readmeImports + block[1]), overlay: content} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "-overlay", overlay, "./internal/arch/readme")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the program of README.md: %v\n%s", err, out)
	}
	accuracy, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "test accuracy 0.")
	if !ok || accuracy < "75" {
		t.Errorf("the program of README.md prints %q; two layers of attention should reach 0.75", out)
	}
}
