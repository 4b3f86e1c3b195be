package unpack

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zst(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// zipOf returns an archive of names and contents, alternating.
func zipOf(parts ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		m, _ := w.Create(parts[i])
		m.Write([]byte(parts[i+1]))
	}
	w.Close()
	return out.Bytes()
}

func tarOf(headers []*tar.Header, contents ...string) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i, h := range headers {
		h.Size, h.Mode = int64(len(contents[i])), 0o600
		w.WriteHeader(h)
		w.Write([]byte(contents[i]))
	}
	w.Close()
	return out.Bytes()
}

func put(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	text := strings.Repeat("0 1\n", 1000)
	for name, b := range map[string][]byte{"plain": []byte(text), "gzip": gz([]byte(text)), "zstd": zst([]byte(text)), "empty": nil} {
		r, err := Open(put(t, name, b))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if want := text; err != nil || string(got) != want && name != "empty" {
			t.Errorf("%s: %d bytes, error %v", name, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("opened a folder, error %v", err)
	}
}

func TestTruncated(t *testing.T) {
	text := []byte(strings.Repeat("some text ", 100))
	for name, b := range map[string][]byte{"gzip": gz(text), "zstd": zst(text)} {
		for n := len(b) - 1; n > 4; n-- {
			r, err := NewReader(bytes.NewReader(b[:n]), 1<<20)
			if err == nil {
				_, err = io.ReadAll(r)
				r.Close()
			}
			if err == nil {
				t.Errorf("%s: no error for %d of %d bytes", name, n, len(b))
			}
		}
	}
}

func TestLimit(t *testing.T) {
	for name, pack := range map[string]func([]byte) []byte{"gzip": gz, "zstd": zst} {
		for n, ok := range map[int]bool{99: true, 100: true, 101: false, 1 << 20: false} {
			r, err := NewReader(bytes.NewReader(pack(make([]byte, n))), 100)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if ok != (err == nil) || len(got) != min(n, 100) || !ok && err.Error() != "it expands to more than 100 bytes, which is refused" {
				t.Errorf("%s of %d bytes: %d, error %v", name, n, len(got), err)
			}
			r.Close()
		}
	}
}

// What people share expands to this much, and no more than 64 MiB and 64 times the
// file is read of anything.
func TestLimitOfFiles(t *testing.T) {
	for packed, want := range map[int64]int64{0: 64 << 20, 1 << 20: 128 << 20, 218 << 10: 64<<20 + 64*218<<10} {
		if got := Limit(packed); got != want {
			t.Errorf("%d bytes may expand to %d, want %d", packed, got, want)
		}
	}
	b := gz(bytes.Repeat([]byte("0 1\n"), 20<<20))
	r, err := Open(put(t, "edges.gz", b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if want := 64<<20 + 64*int64(len(b)); n != want || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d bytes, which is refused", want)) {
		t.Errorf("read %d bytes of 80 MiB, error %v; want %d", n, err, want)
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "a"), 0o777)
	os.WriteFile(filepath.Join(dir, "a", "x.cites"), []byte("1 2"), 0o666)
	os.WriteFile(filepath.Join(dir, "x.content"), gz([]byte("1 0 A")), 0o666)
	files := []*tar.Header{{Name: "a/x.cites", Typeflag: tar.TypeReg}, {Name: "x.content", Typeflag: tar.TypeReg}}
	archive := tarOf(files, "1 2", "1 0 A")
	for _, path := range []string{dir, put(t, "a.zip", zipOf("a/x.cites", "1 2", "x.content", "1 0 A")),
		put(t, "a.tar", archive), put(t, "a.tar.gz", gz(archive)), put(t, "a.tar.zst", zst(archive))} {
		f, err := OpenFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		for suffix, want := range map[string]string{".cites": "1 2", ".content": "1 0 A"} {
			r, err := f.Open(f.Find(suffix))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != want {
				t.Errorf("%s: %s holds %q, error %v", path, suffix, got, err)
			}
			r.Close()
		}
		if name := f.Find(".none"); name != "" {
			t.Errorf("found %q", name)
		}
		if _, err := f.Open("none"); err == nil {
			t.Error("opened what is not there")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHostileArchives(t *testing.T) {
	reg := func(name string) []*tar.Header { return []*tar.Header{{Name: name, Typeflag: tar.TypeReg}} }
	link := []*tar.Header{{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"zip up":        {zipOf("../../x", "1"), `the member "../../x" leads out of the archive`},
		"zip root":      {zipOf("/etc/x", "1"), `"/etc/x" leads out`},
		"zip backslash": {zipOf(`..\x`, "1"), "leads out"},
		"zip folder":    {zipOf("../x/", ""), "leads out"},
		"tar up":        {tarOf(reg("a/../../x"), "1"), "leads out"},
		"tar link":      {tarOf(link, ""), "link or a device"},
		"neither":       {[]byte("hello, this is no archive at all"), "neither a folder nor"},
		"cut zip":       {zipOf("x", "1")[:30], "no zip archive"},
		"damaged gzip":  {flipped(gz(tarOf(reg("x"), "1")), 6), "checksum"},
	} {
		if _, err := OpenFolder(put(t, "a", c.b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// flipped is b with a bit turned round in the byte that is n before its end.
func flipped(b []byte, n int) []byte {
	b = bytes.Clone(b)
	b[len(b)-n] ^= 1
	return b
}

func TestZipBomb(t *testing.T) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	m, _ := w.Create("x.content")
	zeros := make([]byte, 1<<20)
	for range 100 {
		m.Write(zeros)
	}
	w.Close()
	f, err := OpenFolder(put(t, "bomb.zip", out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Open("x.content"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to %d bytes, which is refused", 100<<20)) {
		t.Errorf("opened a bomb, error %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add(gz([]byte("text")))
	f.Add(zst([]byte("text")))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), 1000)
		if err != nil {
			return
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err == nil && len(got) > max(1000, len(b)) {
			t.Fatalf("%d bytes of %d", len(got), len(b))
		}
	})
}
