package tar

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// listed is what a reader finds of a member.
type listed struct {
	name    string
	kind    byte
	content string
}

// here lists an archive by this package.
func here(b []byte) (out []listed, err error) {
	for r := NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err != nil {
			return out, err
		}
		content, err := io.ReadAll(io.LimitReader(r, 1<<16)) // of a sparse member there may be any number
		if err != nil {
			return out, err
		}
		out = append(out, listed{h.Name, h.Typeflag, string(content)})
	}
}

// there lists it by the standard library's.
func there(b []byte) (out []listed, err error) {
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if err != nil {
			return out, err
		}
		content, err := io.ReadAll(io.LimitReader(r, 1<<16)) // of a sparse member there may be any number
		if err != nil {
			return out, err
		}
		out = append(out, listed{h.Name, h.Typeflag, string(content)})
	}
}

// archives are of every form that the standard library writes.
func archives(t testing.TB) map[string][]byte {
	out := map[string][]byte{"empty": make([]byte, 2*block), "nothing": nil}
	for form, name := range map[tar.Format]string{tar.FormatUSTAR: "ustar", tar.FormatPAX: "pax", tar.FormatGNU: "gnu"} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		names := []string{"a.cites", "deep/" + strings.Repeat("folder/", 17) + "b", "c"}
		if form != tar.FormatUSTAR {
			names = append(names, strings.Repeat("long", 80), "naïve")
		}
		for i, n := range names {
			content := strings.Repeat("x", []int{0, 1, 511, 512, 513}[i])
			h := &tar.Header{Name: n, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o644, Format: form}
			if form == tar.FormatPAX {
				h.PAXRecords = map[string]string{"VENDOR.key": "value = \n of two lines"}
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, content); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range []*tar.Header{
			{Name: "d/", Typeflag: tar.TypeDir}, {Name: "l", Linkname: "a", Typeflag: tar.TypeSymlink}, {Name: "h", Linkname: "a", Typeflag: tar.TypeLink},
			{Name: "p", Typeflag: tar.TypeFifo}, {Name: "z", Typeflag: tar.TypeReg},
		} {
			if h.Format = form; form != tar.FormatUSTAR && h.Linkname != "" {
				h.Linkname = strings.Repeat("far", 60)
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
		}
		if form == tar.FormatPAX {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "all"}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	return out
}

// TestAsTheStandardLibrary: each archive, and each cut of it, gives what
// archive/tar gives.
func TestAsTheStandardLibrary(t *testing.T) {
	for name, b := range archives(t) {
		for n := len(b); n >= 0; n -= 173 {
			got, gotErr := here(b[:n])
			want, wantErr := there(b[:n])
			if !slices.Equal(got, want) || gotErr != wantErr {
				t.Fatalf("%s, %d of %d bytes: %q, %v; want %q, %v", name, n, len(b), got, gotErr, want, wantErr)
			}
		}
	}
}

// TestOldAndHugeHeaders: forms that the standard library reads and does not write.
func TestOldAndHugeHeaders(t *testing.T) {
	of := func(name string, size string, kind byte, magic string) []byte {
		var b [block]byte
		copy(b[:], name)
		copy(b[124:136], size)
		copy(b[257:], magic)
		b[156] = kind
		sum := 8 * int(' ')
		for _, c := range b {
			sum += int(c)
		}
		for i := range 6 {
			b[148+i] = '0' + byte(sum>>(3*(5-i))&7)
		}
		return b[:]
	}
	huge := "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03"
	for name, head := range map[string][]byte{
		"old file": of("a", "00000000003 ", 0, ""), "old folder": of("a/", "00000000000 ", 0, ""), "bits": of("a", huge, '0', "ustar  \x00"),
		"negative": of("a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfd", '0', ""), "too large": of("a", "\x80\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03", '0', ""),
		"no number": of("a", "0000000000z ", '0', ""), "wrong sum": append([]byte("b"), of("a", "00000000003 ", '0', "")[1:]...), "kind of its own": of("a", "00000000003 ", 'Q', ""),
	} {
		b := slices.Concat(head, []byte("abc"), make([]byte, block-3), make([]byte, 2*block))
		got, gotErr := here(b)
		want, wantErr := there(b)
		if !slices.Equal(got, want) || (gotErr == io.EOF) != (wantErr == io.EOF) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, gotErr, want, wantErr)
		}
	}
}

// TestRecords: of a member, so that its reader can refuse what they ask for.
func TestRecords(t *testing.T) {
	r := NewReader(bytes.NewReader(archives(t)["pax"]))
	h, err := r.Next()
	if want := (map[string]string{"VENDOR.key": "value = \n of two lines"}); err != nil || !maps.Equal(h.PAXRecords, want) {
		t.Errorf("records %q, error %v", h.PAXRecords, err)
	}
}

// FuzzReader: nothing that archive/tar takes for an archive of files and folders
// is read otherwise.
func FuzzReader(f *testing.F) {
	for _, b := range archives(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _ := here(b)
		want, err := there(b)
		if err != io.EOF {
			return
		}
		sparse := func(l listed) bool { return l.kind == TypeGNUSparse }
		if !slices.ContainsFunc(want, sparse) && !bytes.Contains(b, []byte("GNU.sparse.")) && !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
