package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/safetensors"
)

// Sealed returns a file of tensors and metadata whose checksum fits.
func Sealed(t *testing.T, tensors []safetensors.Tensor, metadata map[string]string) []byte {
	t.Helper()
	metadata[checksumKey] = noChecksum
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return bytes.Replace(b.Bytes(), []byte(noChecksum), []byte(hex.EncodeToString(sum[:])), 1)
}
