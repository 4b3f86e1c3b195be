package main

import (
	"runtime"
	"runtime/debug"

	"github.com/edgewise-ml/edgewise/cmd/gatbench/internal/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// versionCommand is gatbench version.
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// build is what is known of the program and of the machine it runs on.
type build struct {
	Version string `json:"version"` // "(devel)" unless a tagged version was installed
	Go      string `json:"go"`
	Target  string `json:"target"`
	Kernels string `json:"kernels"` // "go" or the assembly's instruction set
	Threads int    `json:"threads"`
}

// Run prints the version.
func (c *versionCommand) Run(e env) error {
	b, p := thisBuild(), report.NewPrinter(e.out)
	if c.JSON {
		p.Encode(b)
	} else {
		p.Printf("edgewise %s\n%s %s\nkernels: %s\nthreads: %d\n", b.Version, b.Go, b.Target, b.Kernels, b.Threads)
	}
	return p.Err()
}

func thisBuild() build {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return build{
		Version: version,
		Go:      runtime.Version(),
		Target:  runtime.GOOS + "/" + runtime.GOARCH,
		Kernels: cpu.Path(),
		Threads: par.Threads(),
	}
}
