package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// Program is how the user calls this program, with which every command line that it
// advises begins. Main finds it out.
var Program = "gatbench"

// Process is what a running program can know of how it was called.
type Process struct {
	arg0       string // as it was typed, or what go run passes
	executable string // its file
	folder     string // the working directory
	path       string // the import path of its package
	version    string // of its module, where that was downloaded; "" of a checkout
	tags       string // of the build
	find       func(name string) (string, error)
}

// ThisProcess returns what is known of this process. What cannot be found out stays
// empty.
func ThisProcess() Process {
	p := Process{arg0: os.Args[0], find: exec.LookPath}
	p.executable, _ = os.Executable()
	p.folder, _ = os.Getwd()
	p.path = "github.com/edgewise-ml/edgewise/cmd/gatbench"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	if strings.Contains(info.Path, "/") { // go run of files calls them command-line-arguments
		p.path = info.Path
	}
	if info.Main.Sum != "" {
		p.version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			p.tags = s.Value
		}
	}
	return p
}

// passing matches the files that go run makes: in a temporary folder, or, the second time,
// in the cache of builds.
var passing = regexp.MustCompile(`[/\\]go-build\d+[/\\]b\d+[/\\]exe[/\\][^/\\]+$|[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}-d[/\\][^/\\]+$`)

// Name returns the words that call the program again: go run and what it was given, the
// bare name where the shell finds this program by it, or else the path as it was typed.
func (p Process) Name() string {
	if passing.MatchString(p.executable) {
		return p.goRun()
	}
	base := strings.TrimSuffix(filepath.Base(p.arg0), ".exe")
	if found, err := p.find(base); err == nil && sameFile(found, p.executable) {
		return Word(base)
	}
	return Word(p.arg0)
}

// goRun returns the go run of the package: by its path from the working directory if that
// is in the package's module, or else by its import path.
func (p Process) goRun() string {
	line := "go run "
	if p.tags != "" {
		line += "-tags " + Word(p.tags) + " "
	}
	if p.version != "" {
		return line + Word(p.path+"@"+p.version)
	}
	root, module := moduleAround(p.folder)
	inside, ok := strings.CutPrefix(p.path+"/", module+"/")
	if module == "" || !ok {
		return line + Word(p.path)
	}
	rel, err := filepath.Rel(p.folder, filepath.Join(root, filepath.FromSlash(inside)))
	if err != nil {
		return line + Word(p.path)
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") {
		rel = "./" + rel // without the dot it would be an import path
	}
	return line + Word(rel)
}

// moduleAround returns the root and the path of the module that a folder is in, "" if
// there is none.
func moduleAround(folder string) (root, module string) {
	for dir := folder; dir != ""; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			if dir == filepath.Dir(dir) {
				break
			}
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "module" {
				return dir, strings.Trim(f[1], `"`)
			}
		}
		break
	}
	return "", ""
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
