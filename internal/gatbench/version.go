package gatbench

import (
	"runtime"
	"runtime/debug"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// versionCommand is gatbench version.
type versionCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// build is what is known of the program and of the machine it runs on.
type build struct {
	Event   string `json:"event"`   // "version"
	Version string `json:"version"` // of a release, of the module or of the commit; "(devel)" where none is known
	Go      string `json:"go"`
	Target  string `json:"target"`
	Kernels string `json:"kernels"` // "go" or the assembly's instruction set
	Threads int    `json:"threads"`
}

// Run prints the version.
func (c *versionCommand) Run(e cli.Env) error {
	b, p := thisBuild(), report.NewPrinter(e.Out)
	if c.JSON {
		p.Encode(b)
	} else {
		p.Printf("edgewise %s\n%s %s\nkernels: %s\nthreads: %d\n", b.Version, b.Go, b.Target, b.Kernels, b.Threads)
		p.Next(cli.Program + " train")
	}
	return p.Err()
}

// release is set by the linker in the programs that are published: .ci/release.
var release string

func thisBuild() build {
	info, _ := debug.ReadBuildInfo()
	return build{
		Event:   "version",
		Version: versionOf(release, info),
		Go:      runtime.Version(),
		Target:  runtime.GOOS + "/" + runtime.GOARCH,
		Kernels: cpu.Path(),
		Threads: par.Threads(),
	}
}

// versionOf returns the version of a program: that of its release, or what the go command knows of
// the module. That is its version if it was installed by one, and in a checkout the commit.
func versionOf(release string, info *debug.BuildInfo) string {
	switch {
	case release != "":
		return release
	case info != nil && info.Main.Version != "":
		return info.Main.Version
	}
	return "(devel)"
}
