package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// recipe is what the numbers of a demo follow from.
type recipe struct {
	Demo   string `json:"demo"`
	Seed   uint64 `json:"seed"`
	Epochs int    `json:"epochs,omitempty"`
	Flags  string `json:"flags,omitempty"` // settings of the demo alone
	before
}

// before are the members that earlier versions wrote for flags of single demos. They are read into Flags.
type before struct {
	Text     string  `json:"text,omitempty"`
	Noise    float64 `json:"noise,omitempty"`
	Capacity bool    `json:"capacity,omitempty"`
	Tasks    string  `json:"tasks,omitempty"` // with blanks between them
	Joint    bool    `json:"joint,omitempty"`
	Cell     string  `json:"cell,omitempty"`
	Target   string  `json:"target,omitempty"`
	NoTimes  bool    `json:"no_times,omitempty"`
}

// flags returns them as one types them.
func (b before) flags() []string {
	var out []string
	v := reflect.ValueOf(b)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		switch text := fmt.Sprint(v.Field(i)); {
		case v.Field(i).IsZero():
		case name == "tasks":
			out = append(out, "--tasks="+strings.ReplaceAll(text, " ", ","))
		default:
			out = append(out, "--"+strings.ReplaceAll(name, "_", "-")+"="+text)
		}
	}
	return out
}

// result is what came of it.
type result struct {
	Numbers stage.Numbers `json:"numbers"`
	MS      float64       `json:"ms"`
}

// recipes returns those of all seeds.
func (c *Command) recipes() []recipe {
	out := make([]recipe, c.Seeds)
	for i := range out {
		out[i] = recipe{Demo: c.demo.Name, Seed: c.Seed + uint64(i), Epochs: c.Epochs, Flags: settings(c.demo.Act)}
	}
	return out
}

// ledger is the file of what came of seeds.
func ledger(path string) *cli.Ledger[recipe, result] {
	return &cli.Ledger[recipe, result]{Path: path, Who: "demo", Check: func(r *recipe, n result) error {
		d, ok := Find(r.Demo)
		switch {
		case !ok:
			return fmt.Errorf("there is no demo %q", r.Demo)
		case len(n.Numbers) == 0 || !(n.MS >= 0):
			return errors.New("it has no numbers")
		case r.before != before{}:
			act, err := withFlags(d, r.before.flags())
			if err != nil {
				return fmt.Errorf("the demo %s: %w", d.Name, err)
			}
			r.Flags, r.before = settings(act), before{}
		}
		return nil
	}}
}

// seeds runs a demo with several seeds, some side by side, and prints what their numbers have in
// common. What an interrupt leaves is printed, too.
func (c *Command) seeds(e cli.Env) error {
	out, kept := report.NewPrinter(e.Out), ledger(c.Resume)
	if err := kept.Open(); err != nil {
		return err
	}
	defer kept.Close()
	kept.Unlocked(e.ErrOut)
	all := c.recipes()
	rest := kept.Missing(all)
	c.plan(out, len(rest))
	progress, began := report.NewProgress(e.ErrOut), time.Now()
	ready := len(all) - len(rest)
	alone := min(par.Threads(), len(rest)) == 1 // of several each would show where it is
	once := func(ctx context.Context, r recipe) (result, error) {
		if err := ctx.Err(); err != nil {
			return result{}, err
		}
		s, start := c.stage(e), time.Now()
		s.Ctx, s.Out, s.Seed, s.Progress = ctx, report.NewPrinter(io.Discard), r.Seed, report.NewProgress(io.Discard)
		if alone {
			s.Title, s.Progress = fmt.Sprintf("seed %d, %d of %d  ", r.Seed, ready+1, len(all)), progress
		}
		err := s.Show(c.demo)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("seed %d: %w", r.Seed, err)
		}
		return result{s.Numbers(), report.Milliseconds(time.Since(start))}, err
	}
	_, err := cli.SideBySide(e.Ctx, rest, once, func(i int, n result) error {
		ready++
		done := ready - len(all) + len(rest)
		progress.Show("%d of %d seeds  about %s to go", ready, len(all), cli.InWords(time.Since(began)/time.Duration(done)*time.Duration(len(rest)-done)))
		return kept.Keep(rest[i], n)
	})
	progress.Clear()
	if e.Ctx.Err() != nil {
		err = c.interrupted(ready)
	}
	c.spreads(out, all, kept.Of)
	return errors.Join(err, out.Err())
}

// plan says how many seeds are to run, and how long that will take.
func (c *Command) plan(out *report.Printer, rest int) {
	known := c.Epochs == 0 && settings(c.demo.Act) == ""
	workers := min(par.Threads(), max(1, rest))
	rounds := (rest + workers - 1) / workers
	if c.JSON {
		plan := map[string]any{"event": "plan", "demo": c.demo.Name, "seed": c.Seed, "seeds": c.Seeds, "kept": c.Seeds - rest}
		if known {
			plan["expected_ms"] = 1000 * c.demo.Seconds * float64(rounds)
		}
		out.Encode(plan)
		return
	}
	text := fmt.Sprintf("%s with %d seeds, starting at %d", c.demo.Name, c.Seeds, c.Seed)
	if done := c.Seeds - rest; done > 0 {
		text += fmt.Sprintf(", of which %s has %d", c.Resume, done)
	}
	one := time.Duration(c.demo.Seconds * float64(time.Second))
	switch {
	case rest == 0:
	case known && workers == 1:
		text += fmt.Sprintf(". A seed takes about %s, all about %s", cli.InWords(one), cli.InWords(one*time.Duration(rest)))
	case known:
		text += fmt.Sprintf(". A seed takes about %s, all about %s with %d at a time", cli.InWords(one), cli.InWords(one*time.Duration(rounds)), workers)
	default:
		text += ". How long they take with these settings is known after the first"
	}
	out.Paragraph("%s.", text)
}

// interrupted says how many seeds there are.
func (c *Command) interrupted(ready int) error {
	err := fmt.Errorf("interrupted after %d of %d seeds", ready, c.Seeds)
	if c.Resume != "" {
		return fmt.Errorf("%w; run the same command again to continue from %s", err, c.Resume)
	}
	return fmt.Errorf("%w; with --resume FILE, the same command could have continued", err)
}

// spreads prints the median and the worst of each number that all finished seeds have.
func (c *Command) spreads(out *report.Printer, all []recipe, of map[recipe]result) {
	var seeds []uint64
	var names []string
	values, ms := map[string][]float64{}, 0.0
	for _, r := range all {
		n, ok := of[r]
		if !ok {
			continue
		}
		if c.JSON {
			out.Encode(map[string]any{"event": "seed", "demo": c.demo.Name, "seed": r.Seed, "numbers": n.Numbers, "ms": n.MS})
		}
		seeds, ms = append(seeds, r.Seed), ms+n.MS
		names = n.Numbers.Names()
		for name, x := range n.Numbers {
			values[name] = append(values[name], float64(x))
		}
	}
	if len(seeds) == 0 {
		return
	}
	wide := len("number")
	for _, name := range names {
		wide = max(wide, len([]rune(name)))
	}
	if !c.JSON {
		out.Printf("\n%-*s  %-7s  %9s  %9s  of seed\n", wide, "number", "better", "median", "worst")
	}
	shown := "" // the seed to look at
	for _, name := range names {
		if len(values[name]) != len(seeds) {
			continue
		}
		sense := c.demo.Sense(name)
		s := stage.NewSpread(sense, seeds, values[name])
		if shown == "" && sense != stage.Neither {
			shown = fmt.Sprintf("--seed %d", s.Of)
		}
		switch {
		case c.JSON:
			line := map[string]any{"event": "number", "demo": c.demo.Name, "number": name, "better": sense, "median": s.Median, "lowest": s.Lowest, "highest": s.Highest, "seeds": len(seeds)}
			if sense != stage.Neither {
				line["worst"], line["worst_seed"] = s.Worst, s.Of
			}
			out.Encode(line)
		case sense == stage.Neither:
			out.Printf("%-*s  %-7s  %9.4g  %.4g to %.4g\n", wide, name, "-", s.Median, s.Lowest, s.Highest)
		default:
			out.Printf("%-*s  %-7s  %9.4g  %9.4g  %d\n", wide, name, sense, s.Median, s.Worst, s.Of)
		}
	}
	if c.JSON {
		out.Encode(map[string]any{"event": "end", "demo": c.demo.Name, "seeds": len(seeds), "ms": ms})
		return
	}
	out.Printf("\n%d seeds, %s each\n", len(seeds), cli.InWords(time.Duration(ms/float64(len(seeds))*float64(time.Millisecond))))
	if c.Epochs > 0 {
		shown = fmt.Sprintf("--epochs %d %s", c.Epochs, shown)
	}
	if len(seeds) == len(all) {
		out.Next(c.call(c.demo, strings.TrimSpace(settings(c.demo.Act)+" "+shown)))
	}
}
