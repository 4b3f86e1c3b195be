package main

import (
	"fmt"
	"reflect"
	"slices"
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
		kong.KindMapper(reflect.String, kong.MapperFunc(asTyped)),
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

// asTyped sets a flag to what was typed. Kong itself replaces bytes that are no UTF-8,
// and the name of a file may have some.
func asTyped(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err == nil {
		target.SetString(fmt.Sprint(token.Value))
	}
	return err
}
