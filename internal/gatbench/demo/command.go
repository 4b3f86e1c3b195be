package demo

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// Few is how many texts of a dataset a demo reads at most; 0: all. Tests set it.
var Few int

// Command is gatbench demo. Choose gives it the subcommands and the flags of one demo.
type Command struct {
	Own    stage.Act `embed:""` // the flags of the demo alone; nil: it has none
	Shared `embed:"" group:"For every demo:"`
	kong.Plugins

	args []string
	demo stage.Demo // whose name the arguments have
}

// Shared are the flags of every demo.
type Shared struct {
	Seed    uint64 `default:"0" placeholder:"N" help:"Seed of the initial weights, the order of the data and dropout. The same seed gives the same bits. Default: 0."`
	Seeds   int    `default:"1" placeholder:"N" help:"Run N seeds, from --seed on, and print the median and the worst of each number. Default: 1, which shows the single run."`
	Resume  string `placeholder:"FILE" help:"With --seeds: keep the result of each seed in this file, and run only the seeds that it does not hold yet."`
	Epochs  int    `default:"0" placeholder:"N" help:"Number of epochs, each one pass over the data. In demos that draw new data at every step, N counts hundreds of steps. Default: set by the demo."`
	Data    string `placeholder:"DIR" help:"Look for the datasets in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	Picture string `placeholder:"FILE" help:"Draw the result to this .svg or .png file."`
	Plot    bool   `help:"Show the panels of the picture in the terminal."`
	Save    string `placeholder:"FILE" help:"Save the model to this file (safetensors)."`
	Threads int    `default:"0" placeholder:"N" help:"Use at most N threads. The result is the same for any number. Default: all processors."`
	JSON    bool   `name:"json" help:"Print JSON objects, one a line."`
}

// subcommand is a demo, or the list of all.
type subcommand struct{ run func(e cli.Env) error }

// Run does what the subcommand is for.
func (s *subcommand) Run(e cli.Env) error { return s.run(e) }

// Choose makes the subcommand of the demo that args name, and its flags. If they name none, it makes that which
// lists all demos, and for the help the subcommand of each, since making them takes a millisecond.
func (c *Command) Choose(args []string) {
	named := ""
	c.args = args
	for i, a := range slices.Backward(args) { // what follows a flag may be its value
		d, ok := Find(strings.ToLower(a))
		if ok && (named == "" || i == 0 || !strings.HasPrefix(args[i-1], "-")) {
			c.demo, named = d, a
		}
	}
	var fields []reflect.StructField
	add := func(tag string, args ...any) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", len(fields)), Type: reflect.TypeFor[subcommand](), Tag: reflect.StructTag(fmt.Sprintf(tag, args...))})
	}
	run, help := c.show, slices.Contains(args, "--help") || slices.Contains(args, "-h")
	if named == "" {
		run = c.list
		add(`cmd:"" name:"list" default:"1" hidden:""`)
	}
	for _, f := range families {
		for _, d := range f.demos {
			if named == "" && help || d.Name == c.demo.Name {
				add(`cmd:"" name:%q help:%q group:%q`, d.Name, d.About, f.title+":")
			}
		}
	}
	if named != "" && named != c.demo.Name { // in other letters
		fields[0].Tag += reflect.StructTag(fmt.Sprintf(` aliases:%q`, named))
	}
	commands := reflect.New(reflect.StructOf(fields))
	for i := range fields {
		commands.Elem().Field(i).Set(reflect.ValueOf(subcommand{run}))
	}
	c.Plugins = kong.Plugins{commands.Interface()}
	if c.Own = fresh(c.demo.Act); c.Own != nil {
		c.demo.Act = c.Own
	}
}

// Explain returns what is wrong with arguments that are refused, if that is a name that no demo has, or a
// flag of another demo.
func (c *Command) Explain() error {
	if c.demo.Name == "" && len(c.args) > 0 && !strings.HasPrefix(c.args[0], "-") {
		var names []string
		for _, d := range All() {
			names = append(names, d.Name)
		}
		return cli.Misuse("there is no demo %q; did you mean %q? %s demo lists them", c.args[0], spell.Nearest(c.args[0], names), cli.Program)
	}
	has := func(d stage.Demo, name string) bool {
		return slices.ContainsFunc(flagsOf(d.Act), func(f flag) bool { return f.name == name })
	}
	but := ", not for " + c.demo.Name
	if c.demo.Name == "" {
		but = ": name the demo, too"
	}
	for _, a := range c.args {
		name, _, _ := strings.Cut(a, "=")
		var others []string
		for _, d := range All() {
			if has(d, name) && !has(c.demo, name) {
				others = append(others, d.Name)
			}
		}
		switch last := len(others) - 1; {
		case last == 0:
			return cli.Misuse("%s is for the demo %s%s", name, others[0], but)
		case last > 0:
			return cli.Misuse("%s is for the demos %s and %s%s", name, strings.Join(others[:last], ", "), others[last], but)
		}
	}
	return nil
}

// show shows the demo.
func (c *Command) show(e cli.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Save != "" || c.Picture != "" || c.Resume != "" {
		cli.OutliveReader()
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	if c.Seeds > 1 || c.Resume != "" {
		return c.seeds(e)
	}
	s := c.stage(e)
	s.Out, s.JSON, s.Plot, s.Width, s.Next = report.NewPrinter(e.Out), c.JSON, c.Plot, report.Width(e.Out), c.next()
	return s.Show(c.demo)
}

// stage returns a stage with the user's settings.
func (c *Command) stage(e cli.Env) *stage.Stage {
	return &stage.Stage{
		Ctx: e.Ctx, Progress: report.NewProgress(e.ErrOut), Seed: c.Seed, Epochs: c.Epochs,
		Data: c.Data, Picture: c.Picture, Save: c.Save, Few: Few,
	}
}

// check returns an error for flags that ask for what cannot be.
func (c *Command) check() error {
	ext := strings.ToLower(filepath.Ext(c.Picture))
	switch {
	case c.Epochs < 0:
		return cli.Misuse("--epochs %d: it must be at least 1, or 0 for the demo's own", c.Epochs)
	case c.Seeds < 1:
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Seeds > 1 && (c.Picture != "" || c.Plot || c.Save != ""):
		return cli.Misuse("--picture, --plot and --save are of one seed: run --seed %d alone for them", c.Seed)
	case c.Resume != "" && (c.Picture != "" || c.Plot || c.Save != ""):
		return cli.Misuse("--resume keeps numbers alone, and --picture, --plot and --save are of one seed: leave it out")
	case c.Plot && c.JSON:
		return cli.Misuse("--plot is for people, and --json for programs: leave one of them out, or draw to a file with --picture")
	case c.Threads < 0:
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Data != "" && c.demo.Data == "" && c.demo.Asked == "":
		return cli.Misuse("--data %s: the demo %s reads no dataset: leave it out", c.Data, c.demo.Name)
	case c.Data != "" && valueOf(c.demo.Act, "--train") != "":
		return cli.Misuse("--data %s: with --train the demo reads your files, and no dataset: leave it out", c.Data)
	case c.Picture != "" && ext != ".svg" && ext != ".png":
		return cli.Misuse("--picture %s: it must end in .svg or .png", c.Picture)
	}
	for _, f := range []struct{ flag, path string }{{"picture", c.Picture}, {"save", c.Save}} {
		if err := cli.Target(f.flag, f.path); err != nil {
			return err
		}
	}
	written := []cli.File{{Flag: "--picture", Path: c.Picture}, {Flag: "--save", Path: c.Save}, {Flag: "--resume", Path: c.Resume}}
	if act, ok := c.demo.Act.(stage.Checker); ok {
		if err := act.Check(written); err != nil {
			return err
		}
	}
	return cli.Apart(nil, written)
}

// call returns the command that shows a demo with flags of its own, on the same data.
func (c *Command) call(d stage.Demo, flags string) string {
	words := []string{cli.Program, "demo", d.Name}
	if flags != "" {
		words = append(words, flags)
	}
	if d.Data != "" && c.Data != "" {
		words = append(words, "--data", cli.Word(c.Data))
	}
	return strings.Join(words, " ")
}

// next returns the command to try after this one: with a flag of the demo if it ran without, or else the
// next demo whose data is there.
func (c *Command) next() string {
	if c.demo.Next != "" && settings(c.demo.Act) == "" {
		return c.call(c.demo, c.demo.Next)
	}
	all := All()
	at := slices.IndexFunc(all, func(d stage.Demo) bool { return d.Name == c.demo.Name })
	for _, d := range append(all[at+1:], all[:at]...) {
		_, err := text.Find(c.Data, d.Data)
		if d.Data == "" || err == nil {
			return c.call(d, "")
		}
	}
	return ""
}

// list says which demos there are.
func (c *Command) list(e cli.Env) error {
	out, wide := report.NewPrinter(e.Out), 0
	for _, d := range All() {
		wide = max(wide, len(d.Name))
	}
	for _, f := range families {
		if !c.JSON {
			out.Printf("%s\n", f.title)
		}
		for _, d := range f.demos {
			if c.JSON {
				out.Encode(map[string]string{"event": "demo", "family": f.title, "demo": d.Name, "about": d.About, "data": d.Data})
				continue
			}
			needs := ""
			if d.Data != "" {
				needs = fmt.Sprintf("   (reads the dataset %s)", d.Data)
			}
			out.Printf("  %-*s  %s%s\n", wide, d.Name, d.About, needs)
		}
	}
	if !c.JSON {
		out.Printf("\n%s demo NAME --help shows the flags of a demo\n", cli.Program)
		out.Next(cli.Program + " demo adding")
	}
	return out.Err()
}
