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

var goBlock = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// The program in the README is the first that a newcomer runs, so it has to
// compile and to learn. It is built as a package of this module that exists only
// in an overlay.
func TestReadme(t *testing.T) {
	text := read(t, "README.md")
	if !strings.Contains(text, "\ngo get "+module+"\n") {
		t.Errorf("README.md does not say how a program gets the module: go get %s", module)
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
	for name, data := range map[string][]byte{file: []byte(block[1]), overlay: content} {
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
	if !ok || accuracy < "70" {
		t.Errorf("the program of README.md prints %q; one layer of attention should reach 0.70", out)
	}
}
