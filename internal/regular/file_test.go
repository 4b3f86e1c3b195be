package regular

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	file, socket := filepath.Join(dir, "file"), filepath.Join(dir, "s")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{file: "", dir: dir + ": it is a folder: name a file", os.DevNull: os.DevNull + ": it is a device, and only ordinary files are read: "}
	if l, err := net.Listen("unix", socket); err == nil {
		defer l.Close()
		want[socket] = socket + ": it is a socket"
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(os.DevNull, link); err == nil {
		want[link] = link + ": it is a device"
	}
	for path, want := range want {
		if err := File(path); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := FileOrFolder(dir); err != nil {
		t.Error(err)
	}
	if err := FileOrFolder(os.DevNull); err == nil {
		t.Error("a device is taken for a file or folder")
	}
	if err := File(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// What is read has its size, and an error of reading says where.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("it is bad")
	err := Read(path, func(r io.ReaderAt, size int64) error {
		b := make([]byte, 2)
		if n, err := r.ReadAt(b, 1); size != 3 || n != 2 || err != nil || string(b) != "bc" {
			t.Errorf("%d of %d bytes, %q, error %v", n, size, b, err)
		}
		return bad
	})
	if !errors.Is(err, bad) || err.Error() != path+": it is bad" {
		t.Errorf("error %v", err)
	}
	if err := Read(path+".no", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
