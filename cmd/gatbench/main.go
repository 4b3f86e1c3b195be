package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/plain"
)

// The exit statuses.
const (
	succeeded = 0
	failed    = 1
	misused   = 2
)

// commandLine is what kong reads.
type commandLine struct {
	Train   trainCommand   `cmd:"" help:"Train a graph attention network, or another, on a citation dataset."`
	Eval    evalCommand    `cmd:"" help:"Say how good a saved model is."`
	Predict predictCommand `cmd:"" help:"Write what a saved model says: the class of each node or graph, scores of links, answers to questions about facts."`
	Table   tableCommand   `cmd:"" help:"Train models on datasets for many seeds, beside what is published."`
	Bench   benchCommand   `cmd:"" help:"Time the kernels, beside what this machine can do."`
	Explain explainCommand `cmd:"" help:"Say which edges and features the class of a node comes from."`
	Demo    demoCommand    `cmd:"" help:"Train a model of sequences and show what it does."`
	Data    dataCommand    `cmd:"" help:"List, describe, check, convert and fetch datasets."`
	Version versionCommand `cmd:"" help:"Say which version this is and what of this machine it uses."`
}

// env is the world as a command sees it.
type env struct {
	ctx         context.Context
	out, errOut io.Writer
}

// usageError is a command line that asks for something that cannot be.
type usageError struct{ error }

func misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

func main() {
	program = thisProcess().name()
	status := run(env{untilSignal(), os.Stdout, os.Stderr}, os.Args[1:])
	atomicfile.Abandon() // what an interrupted command was writing
	os.Exit(status)
}

// run does what the arguments say and returns the exit status.
func run(e env, args []string) int {
	err := dispatch(e, args)
	if err == nil {
		return succeeded
	}
	unknown := (*datasets.UnknownError)(nil)
	if errors.As(err, &unknown) {
		unknown.Get = strings.Replace(unknown.Get, "then gatbench ", "then "+program+" ", 1)
	}
	for _, line := range complaints(err) {
		fmt.Fprintln(e.errOut, "gatbench:", plain.Lines(line))
	}
	if errors.As(err, new(usageError)) || unknown != nil {
		return misused
	}
	return failed
}

func dispatch(e env, args []string) error {
	helped := false
	parser, err := newParser(new(commandLine), kong.Writers(e.out, e.errOut),
		kong.Exit(func(int) { helped = true })) // --help; what kong says afterwards is of no interest
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	switch {
	case helped:
		return nil
	case err != nil:
		return misuse("%w%s", err, advice(err))
	}
	if _, ok := command.Selected().Target.Addr().Interface().(ownEnd); ok {
		return command.Run(e)
	}
	_, err = promptly(e.ctx, func() (any, error) { return nil, command.Run(e) })
	return err
}

// newParser returns what reads arguments into line.
func newParser(line *commandLine, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(line, append(options,
		kong.Name(program),
		kong.Description("Graph neural networks in Go, at work."),
		kong.KindMapper(reflect.String, kong.MapperFunc(asTyped)),
		kong.Vars{"models": strings.Join(modelNames(), ", "), "graphmodels": strings.Join(graphModelNames(), ", ")})...)
}

// asTyped sets a flag to what was typed. Kong itself replaces bytes that are no UTF-8,
// and the name of a file may have some.
func asTyped(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err == nil {
		target.SetString(fmt.Sprint(token.Value))
	}
	return err
}

// advice returns where to read on, unless the error has advice of its own.
func advice(err error) string {
	if strings.HasSuffix(err.Error(), "?") {
		return ""
	}
	return "; " + program + " --help lists what there is"
}
