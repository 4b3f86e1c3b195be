//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package cpu

import (
	"runtime"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

func supported() bool { return four.Have }

func path() string {
	if runtime.GOARCH == "wasm" {
		return "wasm128"
	}
	return "neon"
}

func narrower() (undo func()) { return func() {} }
