package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/plain"
)

const ownPath = "github.com/edgewise-ml/edgewise/cmd/gatbench"

// The program is called again as it was called, however that was.
func TestProgramName(t *testing.T) {
	root := t.TempDir()
	bin, elsewhere := filepath.Join(root, "cmd", "gatbench", "gatbench"), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(root, "go.mod"):        "// mine\nmodule github.com/edgewise-ml/edgewise\n",
		filepath.Join(elsewhere, "go.mod"):   "module example.com/other\n",
		bin:                                  "",
		filepath.Join(elsewhere, "gatbench"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	onPath := func(string) (string, error) { return bin, nil }
	another := func(string) (string, error) { return filepath.Join(elsewhere, "gatbench"), nil }
	nowhere := func(string) (string, error) { return "", exec.ErrNotFound }
	const temporary = "/tmp/go-build2673294749/b001/exe/gatbench"
	cached := "/srv/ci/.cache/go-build/e4/" + strings.Repeat("0123456789abcdef", 4) + "-d/gatbench"
	for name, tt := range map[string]struct {
		p    Process
		want string
	}{
		"installed":          {Process{arg0: "gatbench", executable: bin, find: onPath}, "gatbench"},
		"installed, typed":   {Process{arg0: bin, executable: bin, find: onPath}, "gatbench"},
		"another on PATH":    {Process{arg0: "./gatbench", executable: bin, find: another}, "./gatbench"},
		"built here":         {Process{arg0: "./gatbench", executable: bin, find: nowhere}, "./gatbench"},
		"built elsewhere":    {Process{arg0: "../my bin/gb", executable: bin, find: nowhere}, `"../my bin/gb"`},
		"forged":             {Process{arg0: "\x1b[2J", executable: bin, find: nowhere}, `$'\x1b[2J'`},
		"run":                {Process{arg0: temporary, executable: temporary, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
		"run again":          {Process{arg0: cached, executable: cached, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
		"run there":          {Process{arg0: cached, executable: cached, folder: filepath.Dir(bin), path: ownPath, find: nowhere}, "go run ."},
		"run beside":         {Process{executable: cached, folder: filepath.Join(root, "docs"), path: ownPath, find: nowhere}, "go run ../cmd/gatbench"},
		"run with tags":      {Process{executable: temporary, folder: root, path: ownPath, tags: "noasm,f64", find: nowhere}, "go run -tags noasm,f64 ./cmd/gatbench"},
		"run of a version":   {Process{executable: temporary, folder: root, path: ownPath, version: "v0.3.1", find: nowhere}, "go run " + ownPath + "@v0.3.1"},
		"run of a workspace": {Process{executable: temporary, folder: elsewhere, path: ownPath, find: nowhere}, "go run " + ownPath},
		"run nowhere":        {Process{executable: temporary, path: ownPath, find: nowhere}, "go run " + ownPath},
		"run on Windows":     {Process{executable: `C:\Temp\go-build123\b001\exe\gatbench.exe`, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
	} {
		if got := tt.p.Name(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A shell reads a word as it was, and a terminal gets nothing harmful of it.
func TestWord(t *testing.T) {
	shell, err := exec.LookPath("bash")
	for _, s := range []string{
		"cora", "a/b-c_d.npz", "a b", "", "$(rm -rf x)", "`x`", `a"b`, "a'b", `a\b`, "a!b", "a;b&c|d", "*", "~", "#x", "\x1b[2J'\\", "\u202ex", "a\nb", "\xff", "é",
	} {
		got := Word(s)
		if plain.Text(got) != got {
			t.Errorf("%q becomes %q", s, got)
		}
		if err != nil || runtime.GOOS == "windows" {
			continue
		}
		if read, err := exec.Command(shell, "-c", "printf %s "+got).Output(); err != nil || string(read) != s {
			t.Errorf("%q becomes %s, which is read as %q, %v", s, got, read, err)
		}
	}
	for s, want := range map[string]string{"cora": "cora", "../a.npz": "../a.npz", "my club.npz": `"my club.npz"`} {
		if got := Word(s); got != want {
			t.Errorf("%q becomes %s, want %s", s, got, want)
		}
	}
}
