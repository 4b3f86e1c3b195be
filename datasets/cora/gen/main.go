package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
)

var parts = []string{"allx", "ally", "graph", "test.index", "tx", "ty", "x", "y"}

func main() {
	data := flag.String("data", os.Getenv("EDGEWISE_DATA"), "folder of the ind.cora.* files")
	out := flag.String("out", ".", "folder to write cora.zst and sources.txt to")
	flag.Parse()
	if err := generate(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes both files.
func generate(data, out string) error {
	dir, err := datasets.Find(data, "cora")
	if err != nil {
		return err
	}
	d, err := datasets.Open(dir, "cora")
	if err != nil {
		return err
	}
	raw, err := encode(d)
	if err != nil {
		return err
	}
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	packed, err := pack(raw)
	if err != nil {
		return err
	}
	if err := put(filepath.Join(out, "cora.zst"), packed); err != nil {
		return err
	}
	return put(filepath.Join(out, "sources.txt"), []byte(sums))
}

func put(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// pack compresses b, on one thread so that the bytes are always the same.
func pack(b []byte) ([]byte, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.EncodeAll(b, nil), nil
}

// checksums returns a line for each source, as sha256sum prints it.
func checksums(dir string) (string, error) {
	var b strings.Builder
	for _, part := range parts {
		name := "ind.cora." + part
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), name)
	}
	return b.String(), nil
}
