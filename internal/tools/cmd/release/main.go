// Release builds what is published for a version: gatbench for six systems, static, each in an archive
// with the licences; SHA256SUMS of the archives; and notes.md, the version's section of CHANGELOG.md.
//
//	release -root . -version v0.1.0 -out DIR
//
// It builds the last commit, and nothing is published. The same commit gives the same bytes with
// the same release of Go, wherever it is built. Its output is a table of the sizes.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// targets are the systems that are built for.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// target is an operating system and an architecture, as Go calls them.
type target struct{ system, arch string }

// beside are the files that every archive holds beside the program.
var beside = []string{"LICENSE", "README.md", "THIRD-PARTY.txt"}

func main() {
	root := flag.String("root", ".", "the `directory` of the repository")
	version := flag.String("version", "", "the `version`, as it is tagged: v0.1.0")
	out := flag.String("out", "", "the `directory` to write to: it must be empty, or not there yet")
	flag.Parse()
	err := errors.New("-version, -out and no other arguments")
	if *version != "" && *out != "" && flag.NArg() == 0 {
		err = release(os.Stdout, *root, *version, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release writes all of a version to a directory.
func release(report io.Writer, root, version, out string) error {
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes, err := section(string(changes), version)
	if err != nil {
		return err
	}
	citation, err := os.ReadFile(filepath.Join(root, "CITATION.cff"))
	if err != nil {
		return err
	}
	if line := "\nversion: " + version[1:] + "\n"; !strings.Contains(string(citation), line) {
		return fmt.Errorf("CITATION.cff is of another version: it has no line %q", strings.TrimSpace(line))
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: what is in it would be published too", out)
	}
	date, err := committed(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, t := range targets {
		program, err := t.build(root, version)
		if err != nil {
			return err
		}
		files, err := t.files(root, program)
		if err != nil {
			return err
		}
		archive, err := t.pack(t.stem(version), files, date)
		if err != nil {
			return err
		}
		name := t.stem(version) + t.ending()
		if err := os.WriteFile(filepath.Join(out, name), archive, 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
		fmt.Fprintf(report, "%-14s %9d bytes, in %s %9d\n", t.system+"/"+t.arch, len(program), name, len(archive))
	}
	return errors.Join(
		os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o666),
		os.WriteFile(filepath.Join(out, "notes.md"), []byte(notes), 0o666))
}

// aVersion is a version that Go takes for one, as it is tagged.
var aVersion = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

// section returns what the change log says of a version: the lines below its heading, which
// may have a v, brackets and a date.
func section(changes, version string) (string, error) {
	if !aVersion.MatchString(version) {
		return "", fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	var lines []string
	found := false
	for line := range strings.Lines(strings.ReplaceAll(changes, "\r\n", "\n")) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			if found {
				break
			}
			named := strings.Trim(strings.Fields(heading + " -")[0], "[]():,")
			found = strings.TrimPrefix(named, "v") == version[1:]
		} else if found {
			lines = append(lines, line)
		}
	}
	text := strings.TrimSpace(strings.Join(lines, ""))
	switch {
	case !found:
		return "", fmt.Errorf("CHANGELOG.md has no heading \"## %s\": write what is new in this version", version[1:])
	case text == "":
		return "", fmt.Errorf("CHANGELOG.md says nothing below its heading of %s", version)
	}
	return text + "\n", nil
}

// committed is the time of the last commit, which all files of the archives have. The error is of
// changes that are in no commit: nobody could build that program again.
func committed(root string) (time.Time, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stderr = root, os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	changed, err := git("status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("there are changes that are not committed:\n%s", changed)
	}
	if err != nil {
		return time.Time{}, err
	}
	text, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// build returns the program. No setting of the environment changes it, and no path of this machine is in it.
func (t target) build(root, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, t.program())
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -X github.com/edgewise-ml/edgewise/internal/gatbench.release="+version, "-o", path, "./cmd/gatbench")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s/%s: go build: %w", t.system, t.arch, err)
	}
	return os.ReadFile(path)
}

// files are what the archive holds.
func (t target) files(root string, program []byte) ([]file, error) {
	files := []file{{t.program(), 0o755, program}}
	for _, name := range beside {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	return files, nil
}

// program is the name of the program's file.
func (t target) program() string {
	if t.system == "windows" {
		return "gatbench.exe"
	}
	return "gatbench"
}

// stem is the name of the archive, and of the directory in it.
func (t target) stem(version string) string {
	return fmt.Sprintf("gatbench-%s-%s-%s", version[1:], t.system, t.arch)
}

// ending is that of the archive's name.
func (t target) ending() string {
	if t.system == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}
