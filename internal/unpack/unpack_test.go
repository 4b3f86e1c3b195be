package unpack

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

func gz(b []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
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

// zipOfZeros returns an archive of members of so many MiB of zeros.
func zipOfZeros(size int, names ...string) []byte {
	var out bytes.Buffer
	w, zeros := zip.NewWriter(&out), make([]byte, 1<<20)
	for _, name := range names {
		m, _ := w.Create(name)
		for range size {
			m.Write(zeros)
		}
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
			r, err := NewFile(bytes.NewReader(b[:n]), NewBudget(0))
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

// textOf is a budget of n bytes of text, of a file of 7.
func textOf(n int64) *Budget { return &Budget{packed: 7, text: account{n, n}} }

func TestLimit(t *testing.T) {
	for name, pack := range map[string]func([]byte) []byte{"gzip": gz, "zstd": zst} {
		for n, ok := range map[int]bool{99: true, 100: true, 101: false, 1 << 20: false} {
			r, err := NewFile(bytes.NewReader(pack(make([]byte, n))), textOf(100))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if ok != (err == nil) || len(got) != min(n, 100) || !ok && err.Error() != "7 bytes expand to more than 100, which is refused: unpack it first, if you trust it" {
				t.Errorf("%s of %d bytes: %d, error %v", name, n, len(got), err)
			}
			r.Close()
		}
	}
}

// What people share expands to this much, and no more is read of anything.
func TestLimitOfFiles(t *testing.T) {
	for packed, want := range map[int64]int64{0: 32 << 20, 1 << 20: 96 << 20, 218 << 10: 32<<20 + 64*218<<10} {
		if got := Limit(packed); got != want {
			t.Errorf("%d bytes may expand to %d, want %d", packed, got, want)
		}
	}
	b := bytes.Repeat(gz(bytes.Repeat([]byte("0 1\n"), 1<<18)), 40) // of a MiB each: gzip goes on after the first
	r, err := Open(put(t, "edges.gz", b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if want := 32<<20 + 64*int64(len(b)); n != want || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes expand to more than %d, which is refused", len(b), want)) {
		t.Errorf("read %d bytes of 40 MiB, error %v; want %d", n, err, want)
	}
}

// All members of an archive, and the archives in them, share one budget: what
// expands twice does not multiply its limits, and neither do many members.
func TestOneBudgetAnArchive(t *testing.T) {
	const size = 24 // MiB: one of them is within Limit and two are not
	text := make([]byte, 1<<20)
	once, other := bytes.Repeat(gz(text), size), string(bytes.Repeat(zst(text), size))
	regular := func(names ...string) (hs []*tar.Header) {
		for _, name := range names {
			hs = append(hs, &tar.Header{Name: name, Typeflag: tar.TypeReg})
		}
		return hs
	}
	for name, path := range map[string]string{
		"a .gz in a .zip":        put(t, "a.zip", zipOf("a.gz", string(once), "b.gz", string(once))),
		"a .gz in a .tar":        put(t, "a.tar", tarOf(regular("a.gz", "b.gz"), string(once), string(once))),
		"a .gz in a .tar.gz":     put(t, "a.tgz", gz(tarOf(regular("a.gz", "b.gz"), string(once), string(once)))),
		"members of a .zip":      put(t, "b.zip", zipOfZeros(size, "a.gz", "b.gz")),
		"a .zst in a .gz's .tar": put(t, "b.tgz", gz(tarOf(regular("a.gz", "b.gz"), other, other))),
	} {
		f, err := OpenFolder(path)
		if err != nil {
			t.Fatal(name, err)
		}
		total, refused := int64(0), ""
		for _, member := range []string{"a.gz", "b.gz"} {
			r, err := f.Open(member)
			if err == nil {
				var n int64
				n, err = io.Copy(io.Discard, r)
				total += n
				r.Close()
			}
			if err != nil {
				refused += member + ": " + err.Error()
			}
		}
		f.Close()
		info, _ := os.Stat(path)
		if total > Limit(info.Size()) || !strings.HasPrefix(refused, "b.gz: ") && !strings.Contains(refused, ": b.gz: ") || !strings.Contains(refused, "which is refused") {
			t.Errorf("%s: %d bytes of a file of %d, error %q", name, total, info.Size(), refused)
		}
	}
}

// What a reader keeps of a text is bounded if the text is compressed.
func TestKeep(t *testing.T) {
	plain, err := Open(put(t, "x", []byte("0 1")))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err := BudgetOf(plain).Keep(math.MaxInt); err != nil {
		t.Error(err)
	}
	packed, err := Open(put(t, "x.gz", gz([]byte("0 1"))))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	b := BudgetOf(packed)
	if err := b.Keep(48 << 20); err != nil {
		t.Error(err)
	}
	if err := b.Keep(1 << 20); err == nil || !strings.Contains(err.Error(), "unpack it first") {
		t.Errorf("error %v", err)
	}
	if BudgetOf(strings.NewReader("")) != nil {
		t.Error("a reader of ours has a budget")
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
	long := strings.Repeat("x", 5000)
	empty := gz(bytes.Repeat(header("x", '0', 0), 1<<10)) // members of one name, and 64 times as many of them with one more
	many := append(bytes.Repeat(empty, 64), gz(append(header("x", '0', 0), make([]byte, 1024)...))...)
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
		"PAX sparse":    {sparsePAX(), `the member "edges.txt" is sparse, so a few bytes may stand for any number, which is refused: pack it without --sparse`},
		"GNU sparse":    {sparseGNU(), `the member "edges.txt" is sparse`},
		"twice in tar":  {tarOf(append(reg("x"), reg("x")...), "1", "2"), `there are two members "x", of which one would be lost: pack it again`},
		"twice in zip":  {zipOf("x", "1", "x", "2"), `there are two members "x"`},
		"long name":     {gz(tarOf(reg(long), "1")), `… of a member has 5000 bytes; the limit is 4096`},
		"long in zip":   {zipOf(long, "1"), `… of a member has 5000 bytes; the limit is 4096`},
		"many":          {many, "65537 files are too many; the limit is 65536"},
		"neither":       {[]byte("hello, this is no archive at all"), "neither a folder nor"},
		"cut zip":       {zipOf("x", "1")[:30], "a: the zip archive is cut or damaged: download or copy it again"},
		"cut tar":       {tarOf(append(reg("x"), reg("y")...), "1", "2")[:1200], "a: the tar file ends early: it was cut, so download or copy it again"},
		"cut tar.gz":    {gz(tarOf(append(reg("x"), reg("y")...), "1", "2"))[:40], "a: the gzip file ends early: it was cut, so download or copy it again"},
		"cut header":    {gz([]byte("x"))[:5], "a: the gzip file ends early: it was cut, so download or copy it again"},
		"cut tar.zst":   {zst(tarOf(append(reg("x"), reg("y")...), "1", "2"))[:40], "a: the zstd file ends early: it was cut, so download or copy it again"},
		"damaged gzip":  {flipped(gz(tarOf(reg("x"), "1")), 6), "a: the gzip file is damaged: download or copy it again"},
		"damaged zstd":  {flipped(zst(tarOf(reg("x"), "1")), 1), "a: the zstd file is damaged: download or copy it again"},
	} {
		if _, err := OpenFolder(put(t, "a", c.b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// sparsePAX is an archive of a member of 10 GB, all of it a hole, as tar --sparse
// --format=pax writes it.
func sparsePAX() []byte {
	record := func(key, value string) string {
		n := len(key) + len(value) + 3
		for n != len(key)+len(value)+3+len(fmt.Sprint(n)) {
			n = len(key) + len(value) + 3 + len(fmt.Sprint(n))
		}
		return fmt.Sprintf("%d %s=%s\n", n, key, value)
	}
	text := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") + record("GNU.sparse.name", "edges.txt") + record("GNU.sparse.realsize", "10000000000")
	sparseMap := "1\n10000000000\n0\n"
	return slices.Concat(header("PaxHeaders/edges.txt", 'x', len(text)), block(text), header("GNUSparseFile/edges.txt", '0', 512), block(sparseMap), make([]byte, 1024))
}

// sparseGNU is one of 8 GB in GNU's older form.
func sparseGNU() []byte {
	h := header("edges.txt", 'S', 0)
	copy(h[257:], "ustar  \x00")
	copy(h[386:], fmt.Sprintf("%011o\x00%011o\x00", int64(8000000000), 0)) // where it goes on, and for how long
	copy(h[483:], fmt.Sprintf("%011o\x00", int64(8000000000)))
	return append(sealed(h), make([]byte, 1024)...)
}

// header is a header of a tar archive.
func header(name string, kind byte, size int) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], fmt.Sprintf("%07o\x00%07o\x00%07o\x00%011o\x00%011o\x00", 0o644, 0, 0, size, 0))
	h[156] = kind
	copy(h[257:], "ustar\x0000")
	return sealed(h)
}

// sealed is a header with its checksum.
func sealed(h []byte) []byte {
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// block is a text, filled up to whole blocks of a tar archive.
func block(text string) []byte {
	return append([]byte(text), make([]byte, (512-len(text)%512)%512)...)
}

// flipped is b with a bit turned round in the byte that is n before its end.
func flipped(b []byte, n int) []byte {
	b = bytes.Clone(b)
	b[len(b)-n] ^= 1
	return b
}

func TestZipBomb(t *testing.T) {
	const size = 40 // MiB, more than Limit
	f, err := OpenFolder(put(t, "bomb.zip", zipOfZeros(size, "x.content")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Open("x.content"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to %d bytes, which is refused", size<<20)) {
		t.Errorf("opened a bomb, error %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add(gz([]byte("text")))
	f.Add(zst([]byte("text")))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewFile(bytes.NewReader(b), textOf(1000))
		if err != nil {
			return
		}
		defer r.Close()
		if got, err := io.ReadAll(r); err == nil && len(got) > max(1000, len(b)) {
			t.Fatalf("%d bytes of %d", len(got), len(b))
		}
	})
}
