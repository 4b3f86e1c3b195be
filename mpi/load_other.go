//go:build !((linux && !android && (amd64 || arm64)) || (darwin && !ios && (amd64 || arm64)))

package mpi

import (
	"errors"
	"runtime"
)

// supported returns why no MPI can be loaded on this system, or nil.
func supported() error {
	return errors.New("mpi: no MPI can be loaded on " + runtime.GOOS + "/" + runtime.GOARCH + ": this needs Linux or macOS on amd64 or arm64 (MS-MPI of Windows is not supported; WSL is Linux)")
}

// open loads the library of a file.
func open(string) (*library, error) { return nil, supported() }
