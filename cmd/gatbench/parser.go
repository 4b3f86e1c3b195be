package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
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

// newParser returns what reads args into line. Where the first of them names a command, it
// has no other: making the whole takes milliseconds, which every start would wait for.
func newParser(line *commandLine, args []string, options ...kong.Option) (*kong.Kong, error) {
	if others := commandsBut(args); len(others) > 0 {
		options = append(options, kong.IgnoreFields(`^commandLine\.(`+strings.Join(others, "|")+`)$`))
	}
	return kong.New(line, append(options,
		kong.Name(program),
		kong.Description("Graph neural networks in Go, at work."),
		kong.KindMapper(reflect.String, asTyped),
		kong.KindMapper(reflect.Int, number("a whole number", wholeNumber)), kong.KindMapper(reflect.Int32, number("a whole number", wholeNumber)),
		kong.KindMapper(reflect.Uint64, number("a whole number that is not negative", naturalNumber)), kong.KindMapper(reflect.Float64, number("a number", anyNumber)),
		kong.PostBuild(listModels))...)
}

// commandsBut returns the fields of commandLine but that of the command which args begin
// with; none if they begin with another word.
func commandsBut(args []string) []string {
	var others []string
	line := reflect.TypeFor[commandLine]()
	for i := range line.NumField() {
		others = append(others, line.Field(i).Name)
	}
	at := slices.IndexFunc(others, func(name string) bool { return len(args) > 0 && strings.ToLower(name) == args[0] })
	if at < 0 {
		return nil
	}
	return slices.Delete(others, at, at+1)
}

// listModels writes the names of the models into the help that lists them. Were they
// kong.Vars, kong would search the lists for other variables, once a flag.
func listModels(k *kong.Kong) error {
	lists := strings.NewReplacer("${models}", strings.Join(modelNames(), ", "), "${graphmodels}", strings.Join(graphModelNames(), ", "))
	return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
		if v, ok := at.(*kong.Value); ok {
			v.Help = lists.Replace(v.Help)
		}
		return next(nil)
	})
}

// badValue reports a flag that was given no value, or one that is none of its kind.
type badValue struct{ flag, given, want string }

func (e *badValue) Error() string { return fmt.Sprintf("%s%s: it must be %s", e.flag, e.given, e.want) }

// value returns what was typed for a flag: -3, too, which kong takes for a flag of one letter.
func value(ctx *kong.DecodeContext, want string) (string, error) {
	next := ctx.Scan.Peek()
	if text, ok := next.Value.(string); ok && len(text) > 1 && text[0] == '-' && strings.ContainsRune(".0123456789", rune(text[1])) || next.IsValue() {
		return fmt.Sprint(ctx.Scan.Pop().Value), nil
	}
	return "", &badValue{flag: ctx.Value.ShortSummary(), want: "followed by " + want}
}

// number returns what sets a flag to a number, by a parser of want, which it must be.
func number(want string, parse func(text string, v reflect.Value) error) kong.MapperFunc {
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		text, err := value(ctx, want)
		if err == nil && parse(text, target) != nil {
			err = &badValue{ctx.Value.ShortSummary(), " " + text, want}
		}
		return err
	}
}

func wholeNumber(text string, v reflect.Value) error {
	n, err := strconv.ParseInt(text, 0, v.Type().Bits())
	v.SetInt(n)
	return err
}

func naturalNumber(text string, v reflect.Value) error {
	n, err := strconv.ParseUint(text, 0, v.Type().Bits())
	v.SetUint(n)
	return err
}

func anyNumber(text string, v reflect.Value) error {
	x, err := strconv.ParseFloat(text, v.Type().Bits())
	v.SetFloat(x)
	return err
}

// asTyped sets a flag to what was typed. Kong itself replaces bytes that are no UTF-8,
// and the name of a file may have some.
var asTyped = kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := value(ctx, "a value")
	target.SetString(text)
	return err
})
