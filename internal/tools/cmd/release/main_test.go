package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSection(t *testing.T) {
	const changes = "# Changelog\n\n## Unreleased\n\n- new\n\n## v0.1.10 (2026-12-01)\n\n- ten\n\n## 0.1.1\n## %s\n\n- first\n\n### More\n\n- second\n\n## 0.0.9\n\n- old\n"
	for _, heading := range []string{"0.1.0", "v0.1.0", "v0.1.0 (unreleased)", "0.1.0, 26 November 2026", "[0.1.0] - 2026-11-26", "v0.1.0: the first\r"} {
		got, err := section(strings.Replace(changes, "%s", heading, 1), "v0.1.0")
		if want := "- first\n\n### More\n\n- second\n"; got != want || err != nil {
			t.Errorf("%q: %q, %v", heading, got, err)
		}
	}
	if got, err := section(changes, "v0.1.10"); got != "- ten\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for version, want := range map[string]string{
		"v0.1.0": `no heading "## 0.1.0"`, "v0.1.1": "says nothing", "v0.1": "not a version", "0.1.1": "not a version", "v0.01.1": "not a version", "": "not a version",
	} {
		if got, err := section(changes, version); err == nil || !strings.Contains(err.Error(), want) || got != "" {
			t.Errorf("%q: %q, %v, want an error with %q", version, got, err, want)
		}
	}
}

// An archive holds the files, the program can be run, and the same files give the same bytes.
func TestPack(t *testing.T) {
	date := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	root := t.TempDir()
	for _, name := range beside {
		if err := os.WriteFile(filepath.Join(root, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []target{{"linux", "arm64"}, {"windows", "amd64"}} {
		files, err := to.files(root, []byte("program"))
		if err != nil {
			t.Fatal(err)
		}
		archive, err := to.pack(to.stem("v1.2.3"), files, date)
		if err != nil {
			t.Fatal(err)
		}
		again, err := to.pack(to.stem("v1.2.3"), files, date.In(time.FixedZone("elsewhere", 3600)))
		if err != nil || !bytes.Equal(archive, again) {
			t.Errorf("%v: other bytes the second time, %v", to, err)
		}
		got := unpacked(t, to, archive, date)
		dir := "gatbench-1.2.3-" + to.system + "-" + to.arch + "/"
		want := map[string]string{dir + to.program(): "-rwxr-xr-x program"}
		for _, name := range beside {
			want[dir+name] = "-rw-r--r-- text of " + name
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%v: %s is %q, want %q", to, name, got[name], text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%v: %d files, want %d", to, len(got), len(want))
		}
	}
}

// unpacked returns the mode and text of each file of an archive.
func unpacked(t *testing.T, to target, archive []byte, date time.Time) map[string]string {
	t.Helper()
	files := map[string]string{}
	add := func(info os.FileInfo, name string, r io.Reader, modified time.Time) {
		text, err := io.ReadAll(r)
		if err != nil || !modified.Equal(date) {
			t.Errorf("%v: %s of %v, %v", to, name, modified, err)
		}
		files[name] = info.Mode().String() + " " + string(text)
	}
	if to.ending() == ".zip" {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.FileInfo(), f.Name, r, f.Modified)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		add(h.FileInfo(), h.Name, r, h.ModTime)
	}
}

// What would be published by mistake is refused before anything is built.
func TestRefused(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"CHANGELOG.md": "## 0.2.0\n\n- second\n\n## 0.1.0\n\n- first\n", "CITATION.cff": "title: m\nversion: 0.1.0\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for version, want := range map[string]string{"v0.3.0": "no heading", "v0.2.0": "another version", "v0.1.0": "not empty"} {
		if err := release(io.Discard, root, version, out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", version, err, want)
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Error("something was written:", entries, err)
	}
	if text, err := exec.Command("git", "-C", root, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := release(io.Discard, root, "v0.1.0", t.TempDir()); err == nil || !strings.Contains(err.Error(), "not committed:\n?? CHANGELOG.md") {
		t.Errorf("a tree with changes: %v", err)
	}
}
