package gatbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
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
	line := new(commandLine)
	parser, err := newParser(line, args, kong.Writers(e.Out, e.ErrOut),
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
		return cmp.Or(line.Demo.Explain(), cli.Misuse("%w%s", err, advice(err)))
	}
	e.Args = args
	for n := command.Selected(); n != nil; n = n.Parent {
		if _, ok := n.Target.Addr().Interface().(ownEnd); ok {
			return command.Run(e)
		}
	}
	_, err = cli.Promptly(e.Ctx, func() (any, error) { return nil, command.Run(e) })
	return err
}

// advice returns where to read on, unless the error has advice of its own.
func advice(err error) string {
	if strings.HasSuffix(err.Error(), "?") {
		return ""
	}
	if at := (*kong.ParseError)(nil); errors.As(err, &at) && at.Context.Selected() != nil {
		verb := at.Context.Selected()
		text := ""
		if strings.HasPrefix(err.Error(), `expected "<file>`) {
			return fmt.Sprintf(": a model, which %s train DATA --save FILE writes; %s --help lists what it takes", cli.Program, verb.FullPath())
		}
		if second, ok := strings.CutPrefix(err.Error(), "unexpected argument "); ok && len(verb.Positional) == 1 {
			if text = fmt.Sprintf(": %s takes one argument, and %s is another", verb.Name, second); cli.IsPicture(second) {
				text += "; --picture draws into a file"
			}
		}
		return text + "; " + verb.FullPath() + " --help lists what it takes"
	}
	return "; " + cli.Program + " --help lists the commands"
}

// ownEnd marks the commands that end themselves when their context does, since
// they have something to keep.
type ownEnd interface{ endsItself() }
