package atomicfile

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write makes the file at path hold what write writes. A new file may be read
// by everyone (before the umask), an old one keeps its permissions; a symbolic
// link is followed.
func Write(path string, write func(io.Writer) error) (err error) {
	path, mode, err := target(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	f, err := create(dir, name, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	done := false
	defer func() {
		if !done { // write may have panicked
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	done = true
	syncDir(dir)
	return nil
}

// target returns the file that path means, and its permissions.
func target(path string) (string, fs.FileMode, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return path, 0, nil
	case err != nil:
		return "", 0, fmt.Errorf("write %s: %w", path, err)
	case info.IsDir():
		return "", 0, fmt.Errorf("write %s: it is a directory; give the name of a file", path)
	case !info.Mode().IsRegular():
		return "", 0, fmt.Errorf("write %s: it is not a regular file", path)
	}
	return path, info.Mode().Perm(), nil
}

// create makes a temporary file in dir. The mode 0 stands for what a new file
// usually has, which is the umask's business: os.CreateTemp is stricter.
func create(dir, name string, mode fs.FileMode) (*os.File, error) {
	for try := 0; ; try++ {
		temp := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), try))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if os.IsExist(err) && try < 1000 {
			continue
		}
		if err != nil || mode == 0 {
			return f, err
		}
		if err := f.Chmod(mode); err != nil {
			f.Close()
			os.Remove(temp)
			return nil, err
		}
		return f, nil
	}
}

// fill writes the content and brings it to the disk.
func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// syncDir makes the new name survive a power cut. Not every system can do it,
// and the file is whole either way, so it cannot fail.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if dir == "" {
		dir = "."
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
