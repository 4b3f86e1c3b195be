package arch

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write THIRD-PARTY.txt")

// thirdParty is the file that the archives of a release hold beside the program.
const thirdParty = "THIRD-PARTY.txt"

// aLicence is the name of a file, or of a directory of files, with terms that bind who
// distributes a program.
var aLicence = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|third_party_licenses)(\.(txt|md))?$`)

// elsewhere are licences of other names, by module.
var elsewhere = map[string][]string{
	"golang.org/x/image": {"font/gofont/ttfs/README"}, // of the font Go Regular
}

// A program that is distributed has to carry the licences of all that is linked into it.
// THIRD-PARTY.txt holds them, word by word.
func TestLicencesOfDependencies(t *testing.T) {
	cora := licenceText([]byte(read(t, "datasets/cora/LICENSE.txt")))
	holders := map[string][]string{cora: {"datasets/cora: LICENSE.txt"}} // of each text, the modules and files that have it
	for _, system := range []string{"linux", "darwin", "windows"} {
		for path, dirs := range linkedModules(t, system) {
			found := licencesOf(t, path, dirs)
			if len(found) == 0 {
				t.Errorf("%s has no file that is called like a licence: look for it, and name it in elsewhere", path)
			}
			for name, text := range found {
				if holder := path + ": " + name; !slices.Contains(holders[text], holder) {
					holders[text] = append(holders[text], holder)
				}
			}
		}
	}
	for text, by := range holders { // the authors of Go have one for all that is theirs
		if slices.Contains(by, "golang.org/x/sys: LICENSE") {
			holders[text] = append(by, "Go: its standard library and its runtime")
			if own, err := os.ReadFile(filepath.Join(goroot(t), "LICENSE")); err == nil && licenceText(own) != text { // not every package of Go has the file
				t.Error("Go itself has another licence than golang.org/x/sys")
			}
		}
		slices.Sort(holders[text])
	}
	want := written(holders)
	if *update {
		if err := os.WriteFile(filepath.Join(root, thirdParty), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, thirdParty) != want {
		t.Errorf("%s is not what is linked into gatbench: run go test ./internal/arch -run Licences -update, and read the difference", thirdParty)
	}
}

// linkedModules returns the modules that the command is linked with on a system: the
// directory of each, and those of its packages that are linked.
func linkedModules(t *testing.T, system string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/gatbench")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 3 {
			t.Fatalf("go list wrote %q", line)
		}
		path := parts[0]
		if modules[path] == nil {
			modules[path] = []string{parts[1]}
		}
		modules[path] = append(modules[path], parts[2])
	}
	if len(modules) == 0 {
		t.Fatal("gatbench is linked with no module")
	}
	return modules
}

// licencesOf returns the texts of the licences of a module by their names in it: those at its
// top and those of packages that are linked, in their directories or above them.
func licencesOf(t *testing.T, path string, dirs []string) map[string]string {
	t.Helper()
	top, found := dirs[0], map[string]string{}
	add := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(top, file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(name)] = licenceText(text)
	}
	for _, name := range elsewhere[path] {
		add(filepath.Join(top, filepath.FromSlash(name)))
	}
	for _, dir := range dirs {
		for ; within(filepath.ToSlash(dir), filepath.ToSlash(top)); dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				switch file := filepath.Join(dir, e.Name()); {
				case !aLicence.MatchString(e.Name()):
				case e.IsDir():
					several, err := filepath.Glob(filepath.Join(file, "*"))
					if err != nil || len(several) == 0 {
						t.Fatal(file, err)
					}
					for _, one := range several {
						add(one)
					}
				default:
					add(file)
				}
			}
		}
	}
	return found
}

// licenceText is a text without what differs between copies of it.
func licenceText(b []byte) string {
	return strings.TrimRight(strings.ReplaceAll(string(b), "\r\n", "\n"), " \n")
}

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// written is THIRD-PARTY.txt: each text once, below those who have it.
func written(holders map[string][]string) string {
	var b strings.Builder
	b.WriteString("gatbench is made of edgewise, whose licence is LICENSE, and of what is named below, each above its licence.\n")
	rule := strings.Repeat("=", 80)
	texts := slices.SortedFunc(maps.Keys(holders), func(a, b string) int { return cmp.Compare(holders[a][0], holders[b][0]) })
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(holders[text], "\n"), rule, text)
	}
	return b.String()
}

func TestWritten(t *testing.T) {
	got := written(map[string][]string{"second text": {"b", "c"}, "first text\n of two lines": {"a"}})
	_, got, _ = strings.Cut(strings.ReplaceAll(got, strings.Repeat("=", 80), "=="), "\n")
	if want := "\n==\na\n==\n\nfirst text\n of two lines\n\n==\nb\nc\n==\n\nsecond text\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// The search must find the licences of packages deep in a module, and none of others.
func TestLicencesOf(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"LICENSE", "a/COPYING.txt", "a/b/b.go", "a/b/licence.md", "c/LICENSE", "THIRD_PARTY_LICENSES/Sun-LICENSE", "license.go"} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name+" \r\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := licencesOf(t, "example.com/m", []string{top, filepath.Join(top, "a", "b")})
	names := slices.Sorted(maps.Keys(found))
	if got := strings.Join(names, " "); got != "LICENSE THIRD_PARTY_LICENSES/Sun-LICENSE a/COPYING.txt a/b/licence.md" {
		t.Errorf("found %s", got)
	}
	for name, text := range found {
		if text != name {
			t.Errorf("%s: %q", name, text)
		}
	}
}
