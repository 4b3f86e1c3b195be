package cora

import (
	_ "embed" // the data
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/edgewise-ml/edgewise/datasets"
)

//go:generate go run ./gen -out .

//go:embed cora.zst
var packed []byte

// maxSize bounds what the data may unpack to.
const maxSize = 1 << 20

// Load returns Cora. It is unpacked at each call, and the caller's to change.
func Load() (*datasets.Dataset, error) {
	d, err := load(packed)
	if err != nil {
		return nil, fmt.Errorf("embedded cora: %w", err)
	}
	return d, nil
}

func load(packed []byte) (*datasets.Dataset, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	raw, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	return decode(raw)
}
