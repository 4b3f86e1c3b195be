package gatbench

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
)

// commandLine is what kong reads.
type commandLine struct {
	Train   trainCommand   `cmd:"" help:"Train a graph neural network: by default, a GAT on Cora."`
	Eval    evalCommand    `cmd:"" help:"Measure how good a saved model is."`
	Predict predictCommand `cmd:"" help:"Write the predictions of a saved model: classes, scores of links, or answers to questions about facts."`
	Table   tableCommand   `cmd:"" help:"Train models on datasets with many seeds, and print the results next to published ones."`
	Bench   benchCommand   `cmd:"" help:"Time the kernels, and compare them with what this machine can do."`
	Explain explainCommand `cmd:"" help:"Show which edges and features the predicted class of a node depends on."`
	Demo    demoCommand    `cmd:"" help:"Train a model of sequences and show what it has learnt."`
	Data    dataCommand    `cmd:"" help:"List, describe, check, convert and download datasets."`
	Version versionCommand `cmd:"" help:"Say which version this is and what of this machine it uses."`
}

// newParser returns what reads args into line. Where the first of them names a command, it
// has no other: making the whole takes milliseconds, which every start would wait for.
func newParser(line *commandLine, args []string, options ...kong.Option) (*kong.Kong, error) {
	if others := commandsBut(args); len(others) > 0 {
		options = append(options, kong.IgnoreFields(`^commandLine\.(`+strings.Join(others, "|")+`)$`))
	}
	if len(args) > 0 && args[0] == "demo" {
		line.Demo.Choose(args[1:])
		options = append(options, kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}))
	}
	return kong.New(line, append(options,
		kong.Name(cli.Program),
		kong.Description("Train, evaluate and explain graph neural networks. Begin with the command train, which needs no data: Cora is part of the program."),
		kong.KindMapper(reflect.String, typed),
		kong.KindMapper(reflect.Int, number("a whole number", wholeNumber)), kong.KindMapper(reflect.Int32, number("a whole number", wholeNumber)),
		kong.KindMapper(reflect.Uint64, number("a whole number that is not negative", naturalNumber)), kong.KindMapper(reflect.Float64, number("a number", anyNumber)),
		kong.ExplicitGroups(groups()), kong.PostBuild(unlisted))...)
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

// groups are the titles under which verbs list flags that have a group. Those without one come first. Flags of train stand below the tasks
// that take them.
var groups = sync.OnceValue(func() []kong.Group {
	var models []string
	for _, t := range task.All {
		about := t.About()
		if about.Name == task.Edge {
			continue // those of nodes
		}
		models = append(models, fmt.Sprintf("of %s %s", about.Noun, strings.Join(about.Models, ", ")))
	}
	return []kong.Group{
		{Key: "any", Title: "Any task:", Description: "--model is, " + strings.Join(models, "; ") + ". The first is the default, of nodes gat. Other defaults follow from the model, from --preset and from the data."},
		{Key: "examples", Title: "Nodes, edges and graphs:"},
		{Key: "nodes", Title: "Nodes and edges:"},
		{Key: "graphs", Title: "Whole graphs:"},
		{Key: "links", Title: "Links and facts:"},
		{Key: "splits", Title: "Splits:", Description: splitRules},
		{Key: "tables", Title: "Columns of tables:"},
		{Key: "training", Title: "Training:"},
		{Key: "parts", Title: "Single parts of a preset:"},
		{Key: "files", Title: "Files and pictures:"},
		{Key: "threads", Title: "What the threads do:"},
		{Key: "ranks", Title: "Several processes:"},
		{Key: "program", Title: "More:"},
	}
})

// splitRules says what --splits may be, and what each is for.
const splitRules = `The rules of --splits:

    own             the split that comes with the data. A part that it does
                    not have is drawn from the others
    60/20/20        any shares in per cent, of each class, drawn from --seed:
                    for data with many labels
    random          drawn from --seed: 20 nodes of each class train, and up to
                    1,500 others validate and test: for data with few labels.
                    Of edges and numbers 60/20/20, of graphs 80/10/10
    shchur          drawn from --seed: of the largest component, 20 nodes of
                    each class train, 30 validate, the rest test: to compare
                    with Shchur and others, 2018
    folds:5         five trainings, each of which tests on another fifth: for
                    little data
    time            the earliest 80 % train, the next 10 % validate: for a model
                    that is to predict the future. time:COLUMN names the column
                    that says when; time:year:2017,2018 trains up to 2017 and
                    validates up to 2018
    column:NAME     a column whose words are train, val and test. Of other
                    words, say which mean what: column:region=val:north,test:south
                    (all others train)
    FILE            a .json or .npz file with the lists train, val and test

With --task link, --splits divides by time alone.`

// place is where the flags of a group stand.
func place(g *kong.Group) int {
	if g == nil {
		return -1
	}
	return slices.IndexFunc(groups(), func(other kong.Group) bool { return other.Key == g.Key })
}

// unlisted puts the flags in the order of their groups. It hides those of predict and explain that only eval needs, and what is only for programs that join jobs, or not for them. They say why they are of no use if they are given.
func unlisted(k *kong.Kong) error {
	for _, n := range k.Model.Children {
		n.Hidden = n.Hidden || cli.Joins && !slices.Contains(shared, n.Name)
		slices.SortStableFunc(n.Flags, func(a, b *kong.Flag) int { return place(a.Group) - place(b.Group) })
		for _, f := range n.Flags {
			if (n.Name == "predict" || n.Name == "explain") && (f.Name == "splits" || f.Name == "split-number") || f.Name == "limit" && !cli.Joins {
				f.Hidden = true
			}
		}
	}
	return nil
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

// typed sets a flag to what was typed. Kong itself replaces bytes that are no UTF-8,
// and the name of a file may have some.
var typed = kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
	text, err := value(ctx, "a value")
	target.SetString(text)
	return err
})
