package gatbench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
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
		p    process
		want string
	}{
		"installed":          {process{arg0: "gatbench", executable: bin, find: onPath}, "gatbench"},
		"installed, typed":   {process{arg0: bin, executable: bin, find: onPath}, "gatbench"},
		"another on PATH":    {process{arg0: "./gatbench", executable: bin, find: another}, "./gatbench"},
		"built here":         {process{arg0: "./gatbench", executable: bin, find: nowhere}, "./gatbench"},
		"built elsewhere":    {process{arg0: "../my bin/gb", executable: bin, find: nowhere}, `"../my bin/gb"`},
		"forged":             {process{arg0: "\x1b[2J", executable: bin, find: nowhere}, `$'\x1b[2J'`},
		"run":                {process{arg0: temporary, executable: temporary, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
		"run again":          {process{arg0: cached, executable: cached, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
		"run there":          {process{arg0: cached, executable: cached, folder: filepath.Dir(bin), path: ownPath, find: nowhere}, "go run ."},
		"run beside":         {process{executable: cached, folder: filepath.Join(root, "docs"), path: ownPath, find: nowhere}, "go run ../cmd/gatbench"},
		"run with tags":      {process{executable: temporary, folder: root, path: ownPath, tags: "noasm,f64", find: nowhere}, "go run -tags noasm,f64 ./cmd/gatbench"},
		"run of a version":   {process{executable: temporary, folder: root, path: ownPath, version: "v0.3.1", find: nowhere}, "go run " + ownPath + "@v0.3.1"},
		"run of a workspace": {process{executable: temporary, folder: elsewhere, path: ownPath, find: nowhere}, "go run " + ownPath},
		"run nowhere":        {process{executable: temporary, path: ownPath, find: nowhere}, "go run " + ownPath},
		"run on Windows":     {process{executable: `C:\Temp\go-build123\b001\exe\gatbench.exe`, folder: root, path: ownPath, find: nowhere}, "go run ./cmd/gatbench"},
	} {
		if got := tt.p.name(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// Every command line that is advised begins with the program as it was called.
func TestAdviceNamesProgram(t *testing.T) {
	defer func(was string) { program = was }(program)
	program = "go run ./cmd/gatbench"
	nowhere(t)
	dir := t.TempDir()
	saved := filepath.Join(dir, "m.safetensors")
	for args, want := range map[string]string{
		"train --model mlp --epochs 1":                 "\nnext: go run ./cmd/gatbench train --model mlp --epochs 1 --seeds 10\n",
		"train --model mlp --epochs 1 --seeds 2":       "\nnext: go run ./cmd/gatbench train --model mlp --epochs 1 --save cora.safetensors\n",
		"train --model mlp --epochs 1 --save " + saved: "\nnext: go run ./cmd/gatbench eval " + saved + "\n",
		"data list":                          "not here: go run ./cmd/gatbench data fetch pubmed\n",
		"data describe pubmed --data " + dir: ": get it with go run ./cmd/gatbench data fetch pubmed, or",
		"train --dataset pubmed":             ": get it with go run ./cmd/gatbench data fetch pubmed, or",
		"data fetch texas":                   "; go run ./cmd/gatbench data list shows",
		"data fetch MUTAG":                   "; then go run ./cmd/gatbench train --task graph --dataset MUTAG",
		"train --task graph --dataset MUTAG": "; then go run ./cmd/gatbench train --task graph --dataset MUTAG",
		"zzz":                                "; go run ./cmd/gatbench --help lists",
		"--help":                             "Usage: go run ./cmd/gatbench <command>",
	} {
		stdout, stderr, _ := gatbench(t, strings.Fields(args)...)
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: no %q in\n%s%s", args, want, stdout, stderr)
		}
	}
	s := &session{trainCommand: new(trainCommand), recipe: recipe{Epochs: 9}, summary: report.Summary{Interrupted: true, Checkpoint: "a b"}}
	if got := s.explain(context.Canceled).Error(); !strings.HasSuffix(got, `; to continue: go run ./cmd/gatbench train --resume "a b"`) {
		t.Error(got)
	}
}

// A shell reads a word as it was, and a terminal gets nothing harmful of it.
func TestWord(t *testing.T) {
	shell, err := exec.LookPath("bash")
	for _, s := range []string{
		"cora", "a/b-c_d.npz", "a b", "", "$(rm -rf x)", "`x`", `a"b`, "a'b", `a\b`, "a!b", "a;b&c|d", "*", "~", "#x", "\x1b[2J'\\", "\u202ex", "a\nb", "\xff", "é",
	} {
		got := word(s)
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
		if got := word(s); got != want {
			t.Errorf("%q becomes %s, want %s", s, got, want)
		}
	}
}
