package stage

import (
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
)

// Demo is a model at work.
type Demo struct {
	Name  string
	About string // a line
	Data  string // the dataset of package text that it reads; empty: it needs none
	Asked string // the dataset that it reads if its flags ask for that; empty: none
	Act   Act
	Next  string // flags of its own that are worth a second run; empty: none

	// Seconds is about what a seed takes with the demo's own settings, on one core of a server of 2024.
	Seconds float64
	// Lower and Aside name those numbers of its result, or what they are within, of which the lower
	// one is better, and of which none is: of networks that are there to fail.
	Lower, Aside []string
}

// Act is what a demo does on a stage. It is a Func, or a struct whose fields, with kong's tags, are the
// flags of this demo alone. Run must not change them, since several seeds run side by side.
type Act interface{ Run(s *Stage) error }

// Func is the act of a demo that has no flags of its own.
type Func func(s *Stage) error

// Run calls f.
func (f Func) Run(s *Stage) error { return f(s) }

// Checker is an act whose flags may ask for what cannot be. Check is called before any work is done, with
// the files that will be written.
type Checker interface {
	Check(written []cli.File) error
}

// Sense returns which is better of two numbers of a name that come of d.
func (d Demo) Sense(name string) Sense {
	within := func(parts []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool {
			return strings.Contains("."+name+".", "."+part+".")
		})
	}
	switch {
	case within(d.Aside), within([]string{"test_majority", "try"}):
		return Neither
	case within(d.Lower), within([]string{"loss", "validation_loss", "wrong_bits", "test_error", "perplexity", "test_perplexity"}):
		return Lower
	}
	return Higher
}
