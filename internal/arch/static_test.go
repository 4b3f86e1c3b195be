package arch

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// libc are the packages that Go links with the C library of the system wherever it
// finds a C compiler, and what that needs.
var libc = []string{"net", "os/user", "runtime/cgo", "plugin"}

// A program that imports edgewise is static however it is built, with a C compiler
// at hand too. Only the command and what downloads may import package net.
func TestLibraryIsStatic(t *testing.T) {
	pkgs, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	outside := map[string][]string{} // what is imported from outside of the module, and by which packages
	for name, files := range pkgs {
		for _, imported := range importsOf(files) {
			if !within(imported, module) {
				outside[imported] = append(outside[imported], name)
			}
		}
	}
	networked := false
	for imported, needs := range linked(t, slices.Sorted(maps.Keys(outside))) {
		for _, name := range outside[imported] {
			switch {
			case name == "internal/fetch":
				networked = true
			case !within(name, "internal/gatbench") && !slices.Contains(forTests, name):
				t.Errorf("%s imports %s and so needs %s, with which a program is linked to the system's C library", name, imported, needs)
			}
		}
	}
	if !networked { // the list must be able to show it
		t.Error("internal/fetch does not need net")
	}
	for name, files := range pkgs {
		if !within(name, "internal/gatbench") && slices.Contains(importsOf(files), module+"/internal/fetch") {
			t.Errorf("%s imports internal/fetch, which needs net", name)
		}
	}
}

// linked returns which of the packages need one of libc, and which. To list these packages takes
// the go command a third of the time that the module's own take.
func linked(t *testing.T, packages []string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Deps"}, packages...)...) // some are of other systems
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		for _, dep := range append(p.Deps, p.ImportPath) {
			if slices.Contains(libc, dep) {
				needs[p.ImportPath] = dep
			}
		}
	}
	return needs
}

// TestBinaryIsStatic looks at a program that was built for it: .ci/run builds
// gatbench as the documentation says.
func TestBinaryIsStatic(t *testing.T) {
	path := os.Getenv("EDGEWISE_BINARY")
	if path == "" {
		t.Skip("EDGEWISE_BINARY names no program")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Skip(err) // of another system
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is linked dynamically: it has a segment %v", path, p.Type)
		}
	}
}

// Every page that says how to build the command says how to build it static.
func TestPagesBuildStatic(t *testing.T) {
	const static = "CGO_ENABLED=0 go build"
	for _, name := range []string{"README.md", "docs/use/quickstart.md", "docs/use/benchmarks.md", "docs/use/results.md"} {
		text := read(t, name)
		if all, right := strings.Count(text, "go build"), strings.Count(text, static); right == 0 || right != all {
			t.Errorf("%s: %d of %d go build are %s", name, right, all, static)
		}
	}
}
