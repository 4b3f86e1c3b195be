package gatbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/ranks"
)

// The exit statuses.
const (
	succeeded = 0
	failed    = 1
	misused   = 2
)

// env is the world as a command sees it.
type env struct {
	ctx         context.Context
	out, errOut io.Writer
	team        *ranks.Team // of the ranks that share the work; nil: this process is alone
}

// usageError is a command line that asks for something that cannot be.
type usageError struct{ error }

func misuse(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// Main does what the arguments of the process say, and returns the exit status.
func Main() int {
	program = thisProcess().name()
	status := run(env{ctx: untilSignal(), out: os.Stdout, errOut: os.Stderr}, os.Args[1:])
	atomicfile.Abandon() // what an interrupted command was writing
	return status
}

// run does what the arguments say and returns the exit status.
func run(e env, args []string) int {
	err := dispatch(e, args)
	if err != nil {
		complain(e.errOut, err, args)
	}
	return statusOf(err)
}

// complain says what is wrong.
func complain(w io.Writer, err error, args []string) {
	if unknown := (*datasets.UnknownError)(nil); errors.As(err, &unknown) {
		unknown.Get = strings.Replace(unknown.Get, "then gatbench ", "then "+program+" ", 1)
	}
	for _, line := range complaints(err) {
		report.Message(w, line, args...)
	}
}

// statusOf is the exit status after err.
func statusOf(err error) int {
	switch {
	case err == nil:
		return succeeded
	case errors.As(err, new(usageError)) || errors.As(err, new(*datasets.UnknownError)):
		return misused
	}
	return failed
}

func dispatch(e env, args []string) error {
	if len(args) > 0 && args[0] == "--version" { // as most programs have it
		args = append([]string{"version"}, args[1:]...)
	}
	helped := false
	parser, err := newParser(new(commandLine), args, kong.Writers(e.out, e.errOut),
		kong.Exit(func(int) { helped = true })) // --help; what kong says afterwards is of no interest
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	bad := (*badValue)(nil)
	switch {
	case helped:
		return nil
	case errors.As(err, &bad):
		return misuse("%w", bad)
	case err != nil:
		return misuse("%w%s", err, advice(err, args))
	}
	if _, ok := command.Selected().Target.Addr().Interface().(ownEnd); ok {
		return command.Run(e)
	}
	_, err = promptly(e.ctx, func() (any, error) { return nil, command.Run(e) })
	return err
}

// advice returns where to read on, unless the error has advice of its own.
func advice(err error, args []string) string {
	if strings.HasSuffix(err.Error(), "?") {
		return ""
	}
	if len(commandsBut(args)) > 0 { // they begin with a command
		return "; " + program + " " + args[0] + " --help lists what it takes"
	}
	return "; " + program + " --help lists the commands"
}
