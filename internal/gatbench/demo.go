package gatbench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// demoCommand is gatbench demo.
type demoCommand struct {
	Name     string  `arg:"" optional:"" help:"The demo to run. Without a name, gatbench lists all demos."`
	Seed     uint64  `default:"0" placeholder:"N" help:"Seed of the initial weights, the order of the data and dropout. The same seed gives the same bits. Default: 0."`
	Seeds    int     `default:"1" placeholder:"N" help:"Run N seeds, from --seed on, and print the median and the worst of each number. Default: 1, which shows the single run."`
	Resume   string  `placeholder:"FILE" help:"With --seeds: keep the result of each seed in this file, and run only the seeds that it does not hold yet."`
	Epochs   int     `default:"0" placeholder:"N" help:"Number of epochs, each one pass over the data. In demos that draw new data at every step, N counts hundreds of steps. Default: set by the demo."`
	Data     string  `placeholder:"DIR" help:"Look for the datasets in this folder first, then in $$EDGEWISE_DATA and in the user's cache."`
	Text     string  `placeholder:"FILE" help:"language: learn from this text in UTF-8. Default: edgewise's own guides."`
	Noise    float64 `default:"0" placeholder:"X" help:"hopfield: the share of dots that are wrong in a cue, at most 0.5. Default: 0.2."`
	Capacity bool    `help:"hopfield: draw how many patterns the network holds."`
	Tasks    []int   `placeholder:"N" help:"babi: the tasks of bAbI to learn, from 1 to 20. Default: 1,2."`
	Joint    bool    `help:"babi: train one network for all tasks, not one for each."`
	Cell     string  `placeholder:"NAME" help:"The network. names: gru (the default), rnn, lstm or bilstm. tagging: bilstm (the default) or lstm. recall: lstm (the default), chrono, noforget, peephole, coupled or bias1."`
	Target   string  `placeholder:"NAME" help:"tagging: predict chunks (the default) or pos, the parts of speech. copy: learn up to 20 rows (the default) or 8."`
	NoTimes  bool    `help:"babi: hide the order of the sentences."`
	Picture  string  `placeholder:"FILE" help:"Draw the result to this .svg or .png file."`
	Save     string  `placeholder:"FILE" help:"Save the model to this file (safetensors)."`
	Threads  int     `default:"0" placeholder:"N" help:"Use at most N threads. The result is the same for any number. Default: all processors."`
	JSON     bool    `name:"json" help:"Print JSON objects, one a line."`
}

func (c *demoCommand) endsItself() {}

// fewTexts is how many texts of a dataset a demo reads at most; 0: all. Tests set it.
var fewTexts int

// Run shows the demo, or lists all.
func (c *demoCommand) Run(e cli.Env) error {
	out := report.NewPrinter(e.Out)
	if c.Name == "" {
		return listDemos(out, c.JSON)
	}
	d, ok := demo.Find(strings.ToLower(c.Name))
	if !ok {
		return cli.Misuse("there is no demo %q; did you mean %q? %s demo lists them", c.Name, spell.Nearest(c.Name, demo.Names()), cli.Program)
	}
	if err := c.check(d); err != nil {
		return err
	}
	if c.Save != "" || c.Picture != "" || c.Resume != "" {
		cli.OutliveReader()
	}
	defer par.SetThreads(c.Threads)()
	defer par.Hot()()
	if c.Seeds > 1 || c.Resume != "" {
		return c.seeds(e, d, out)
	}
	s := c.stage(e)
	s.Out, s.JSON = out, c.JSON
	return s.Show(d)
}

// stage returns a stage with the user's settings.
func (c *demoCommand) stage(e cli.Env) *demo.Stage {
	return &demo.Stage{
		Ctx: e.Ctx, Progress: report.NewProgress(e.ErrOut), Seed: c.Seed, Epochs: c.Epochs,
		Data: c.Data, Text: c.Text, Picture: c.Picture, Save: c.Save, Few: fewTexts,
		Noise: c.Noise, Capacity: c.Capacity, Tasks: c.Tasks, Joint: c.Joint, NoTimes: c.NoTimes, Cell: c.Cell, Target: c.Target,
	}
}

// check returns an error for flags that ask for what cannot be.
func (c *demoCommand) check(d demo.Demo) error {
	switch {
	case c.Epochs < 0:
		return cli.Misuse("--epochs %d: it must be at least 1, or 0 for the demo's own", c.Epochs)
	case c.Seeds < 1:
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	case c.Seeds > 1 && (c.Picture != "" || c.Save != ""):
		return cli.Misuse("--picture and --save are of one seed: run --seed %d alone for them", c.Seed)
	case c.Resume != "" && (c.Picture != "" || c.Save != ""):
		return cli.Misuse("--resume keeps numbers alone, and --picture and --save are of one seed: leave it out")
	case c.Threads < 0:
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	case c.Text != "" && d.Name != "language":
		return cli.Misuse("--text is for the demo language, not for %s", d.Name)
	case (c.Noise != 0 || c.Capacity) && d.Name != "hopfield":
		return cli.Misuse("--noise and --capacity are for the demo hopfield, not for %s", d.Name)
	case (c.Tasks != nil || c.Joint || c.NoTimes) && d.Name != "babi":
		return cli.Misuse("--tasks, --joint and --no-times are for the demo babi, not for %s", d.Name)
	case slices.ContainsFunc(c.Tasks, func(n int) bool { return n < 1 || n > 20 }):
		return cli.Misuse("--tasks %v: bAbI has the tasks 1 to 20", c.Tasks)
	case c.Cell != "" && !slices.Contains(d.Cells, c.Cell):
		return cli.Misuse("--cell %s: %s", c.Cell, choices(d.Name, d.Cells))
	case c.Target != "" && !slices.Contains(d.Targets, c.Target):
		return cli.Misuse("--target %s: %s", c.Target, choices(d.Name, d.Targets))
	case !(c.Noise >= 0 && c.Noise <= 0.5):
		return cli.Misuse("--noise %v: it must be a share from 0 to 0.5; with more the negative of a pattern is nearer", c.Noise)
	}
	if ext := strings.ToLower(filepath.Ext(c.Picture)); c.Picture != "" && !slices.Contains([]string{".svg", ".png"}, ext) {
		return cli.Misuse("--picture %s: it must end in .svg or .png", c.Picture)
	}
	for _, f := range []struct{ flag, path string }{{"picture", c.Picture}, {"save", c.Save}} {
		if err := cli.Target(f.flag, f.path); err != nil {
			return err
		}
	}
	text := cli.File{Flag: "--text", Path: c.Text}
	if err := cli.Ordinary(text); err != nil {
		return err
	}
	return cli.Apart([]cli.File{text}, []cli.File{{Flag: "--picture", Path: c.Picture}, {Flag: "--save", Path: c.Save}, {Flag: "--resume", Path: c.Resume}})
}

// choices says what a demo knows of a kind.
func choices(name string, known []string) string {
	if known == nil {
		return "the demo " + name + " has no choice of it"
	}
	return "the demo " + name + " knows " + strings.Join(known, ", ")
}

// listDemos says what there is.
func listDemos(out *report.Printer, asJSON bool) error {
	wide := 0
	for _, d := range demo.All() {
		wide = max(wide, len(d.Name))
	}
	for _, d := range demo.All() {
		if asJSON {
			out.Encode(map[string]string{"event": "demo", "demo": d.Name, "about": d.About, "data": d.Data})
			continue
		}
		needs := ""
		if d.Data != "" {
			needs = fmt.Sprintf("   (reads the dataset %s)", d.Data)
		}
		out.Printf("%-*s  %s%s\n", wide, d.Name, d.About, needs)
	}
	if !asJSON {
		out.Printf("next: "+out.Strong("%s")+"\n", cli.Program+" demo adding")
	}
	return out.Err()
}
