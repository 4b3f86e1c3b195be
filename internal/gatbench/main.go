package gatbench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// Main does what the arguments of the process say, and returns the exit status.
func Main() int {
	cli.Program = cli.ThisProcess().Name()
	status := Run(cli.Env{Ctx: cli.UntilSignal(), Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:])
	atomicfile.Abandon() // what an interrupted command was writing
	return status
}

// Run does what the arguments say and returns the exit status.
func Run(e cli.Env, args []string) int {
	err := dispatch(e, args)
	if err != nil {
		complain(e.ErrOut, err, args)
	}
	return cli.StatusOf(err)
}

// complain says what is wrong.
func complain(w io.Writer, err error, args []string) {
	if unknown := (*datasets.UnknownError)(nil); errors.As(err, &unknown) {
		unknown.Get = strings.Replace(unknown.Get, "then gatbench ", "then "+cli.Program+" ", 1)
	}
	for _, line := range cli.Complaints(err) {
		report.Message(w, asTyped(line, args), args...)
	}
}

// asTyped is what is said of data that was named without a flag. Whoever says it need not know how it was named.
func asTyped(text string, args []string) string {
	if len(args) == 0 || args[0] != "train" {
		return text
	}
	for _, arg := range args[1:] {
		if strings.HasPrefix(arg, "--dataset") {
			return text
		}
	}
	for _, arg := range args[1:] {
		if !strings.HasPrefix(arg, "-") {
			text = strings.ReplaceAll(text, "--dataset "+arg+":", arg+":")
		}
	}
	return text
}

func dispatch(e cli.Env, args []string) error {
	if len(args) > 0 && args[0] == "--version" { // as most programs have it
		args = append([]string{"version"}, args[1:]...)
	}
	helped := false
	parser, err := newParser(new(commandLine), args, kong.Writers(e.Out, e.ErrOut),
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
		return cli.Misuse("%w", bad)
	case err != nil:
		return cli.Misuse("%w%s", err, advice(err, args))
	}
	e.Args = args
	if _, ok := command.Selected().Target.Addr().Interface().(ownEnd); ok {
		return command.Run(e)
	}
	_, err = cli.Promptly(e.Ctx, func() (any, error) { return nil, command.Run(e) })
	return err
}

// advice returns where to read on, unless the error has advice of its own.
func advice(err error, args []string) string {
	if strings.HasSuffix(err.Error(), "?") {
		return ""
	}
	if len(commandsBut(args)) > 0 { // they begin with a command
		if second, ok := strings.CutPrefix(err.Error(), "unexpected argument "); ok && slices.Contains(oneArgument, args[0]) {
			err := fmt.Sprintf(": %s takes one argument, and %s is another", args[0], second)
			if cli.IsPicture(second) {
				err += "; --picture draws into a file"
			}
			return err + "; " + cli.Program + " " + args[0] + " --help lists what it takes"
		}
		return "; " + cli.Program + " " + args[0] + " --help lists what it takes"
	}
	return "; " + cli.Program + " --help lists the commands"
}

// oneArgument are the verbs of one argument.
var oneArgument = []string{"train", "eval", "predict", "explain"}

// ownEnd marks the commands that end themselves when their context does, since
// they have something to keep.
type ownEnd interface{ endsItself() }
