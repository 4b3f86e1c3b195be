package gatbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// demoRun is what the numbers of a demo follow from.
type demoRun struct {
	Demo     string  `json:"demo"`
	Seed     uint64  `json:"seed"`
	Epochs   int     `json:"epochs,omitempty"`
	Text     string  `json:"text,omitempty"`
	Noise    float64 `json:"noise,omitempty"`
	Capacity bool    `json:"capacity,omitempty"`
	Tasks    string  `json:"tasks,omitempty"`
	Joint    bool    `json:"joint,omitempty"`
	Cell     string  `json:"cell,omitempty"`
	Target   string  `json:"target,omitempty"`
	NoTimes  bool    `json:"no_times,omitempty"`
}

// demoNumbers is what came of one.
type demoNumbers struct {
	Numbers demo.Numbers `json:"numbers"`
	MS      float64      `json:"ms"`
}

// runs returns those of all seeds.
func (c *demoCommand) runs(d demo.Demo) []demoRun {
	tasks := ""
	if c.Tasks != nil {
		tasks = strings.Trim(fmt.Sprint(c.Tasks), "[]")
	}
	out := make([]demoRun, c.Seeds)
	for i := range out {
		out[i] = demoRun{d.Name, c.Seed + uint64(i), c.Epochs, c.Text, c.Noise, c.Capacity, tasks, c.Joint, c.Cell, c.Target, c.NoTimes}
	}
	return out
}

// demoLedger is the file of what came of seeds.
func demoLedger(path string) *cli.Ledger[demoRun, demoNumbers] {
	return &cli.Ledger[demoRun, demoNumbers]{Path: path, Who: "demo", Check: func(r *demoRun, n demoNumbers) error {
		switch _, ok := demo.Find(r.Demo); {
		case !ok:
			return fmt.Errorf("there is no demo %q", r.Demo)
		case len(n.Numbers) == 0 || !(n.MS >= 0):
			return errors.New("it has no numbers")
		}
		return nil
	}}
}

// seeds runs a demo with several seeds, some side by side, and prints what their numbers have in
// common. What an interrupt leaves is printed, too.
func (c *demoCommand) seeds(e cli.Env, d demo.Demo, out *report.Printer) error {
	kept := demoLedger(c.Resume)
	if err := kept.Open(); err != nil {
		return err
	}
	defer kept.Close()
	kept.Unlocked(e.ErrOut)
	all := c.runs(d)
	rest := kept.Missing(all)
	c.plan(out, d, len(rest))
	progress, began := report.NewProgress(e.ErrOut), time.Now()
	ready := len(all) - len(rest)
	alone := min(par.Threads(), len(rest)) == 1 // of several each would show where it is
	once := func(ctx context.Context, r demoRun) (demoNumbers, error) {
		if err := ctx.Err(); err != nil {
			return demoNumbers{}, err
		}
		s, start := c.stage(e), time.Now()
		s.Ctx, s.Out, s.Seed, s.Progress = ctx, report.NewPrinter(io.Discard), r.Seed, report.NewProgress(io.Discard)
		if alone {
			s.Title, s.Progress = fmt.Sprintf("seed %d, %d of %d  ", r.Seed, ready+1, len(all)), progress
		}
		err := s.Show(d)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("seed %d: %w", r.Seed, err)
		}
		return demoNumbers{s.Numbers(), report.Milliseconds(time.Since(start))}, err
	}
	_, err := cli.SideBySide(e.Ctx, rest, once, func(i int, n demoNumbers) error {
		ready++
		done := ready - len(all) + len(rest)
		progress.Show("%d of %d seeds  about %s to go", ready, len(all), cli.InWords(time.Since(began)/time.Duration(done)*time.Duration(len(rest)-done)))
		return kept.Keep(rest[i], n)
	})
	progress.Clear()
	if e.Ctx.Err() != nil {
		err = c.interrupted(ready)
	}
	c.spreads(out, d, all, kept.Of)
	return errors.Join(err, out.Err())
}

// plan says how many seeds are to run, and how long that will take.
func (c *demoCommand) plan(out *report.Printer, d demo.Demo, rest int) {
	own := c.Epochs == 0 && !c.Capacity && c.Tasks == nil && !c.NoTimes && c.Text == "" && (c.Cell == "" || c.Cell == d.Cells[0]) && (c.Target == "" || c.Target == d.Targets[0])
	known := own && d.Seconds > 0
	workers := min(par.Threads(), max(1, rest))
	rounds := (rest + workers - 1) / workers
	if c.JSON {
		plan := map[string]any{"event": "plan", "demo": d.Name, "seed": c.Seed, "seeds": c.Seeds, "kept": c.Seeds - rest}
		if known {
			plan["expected_ms"] = 1000 * d.Seconds * float64(rounds)
		}
		out.Encode(plan)
		return
	}
	text := fmt.Sprintf("%s with %d seeds, starting at %d", d.Name, c.Seeds, c.Seed)
	if done := c.Seeds - rest; done > 0 {
		text += fmt.Sprintf(", of which %s has %d", c.Resume, done)
	}
	one := time.Duration(d.Seconds * float64(time.Second))
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
func (c *demoCommand) interrupted(ready int) error {
	err := fmt.Errorf("interrupted after %d of %d seeds", ready, c.Seeds)
	if c.Resume != "" {
		return fmt.Errorf("%w; run the same command again to continue from %s", err, c.Resume)
	}
	return fmt.Errorf("%w; with --resume FILE, the same command could have continued", err)
}

// spreads prints the median and the worst of each number that all finished seeds have.
func (c *demoCommand) spreads(out *report.Printer, d demo.Demo, all []demoRun, of map[demoRun]demoNumbers) {
	var seeds []uint64
	var names []string
	values, ms := map[string][]float64{}, 0.0
	for _, r := range all {
		n, ok := of[r]
		if !ok {
			continue
		}
		if c.JSON {
			out.Encode(map[string]any{"event": "seed", "demo": d.Name, "seed": r.Seed, "numbers": n.Numbers, "ms": n.MS})
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
	for _, name := range names {
		if len(values[name]) != len(seeds) {
			continue
		}
		sense := d.Sense(name)
		s := demo.NewSpread(sense, seeds, values[name])
		switch {
		case c.JSON:
			line := map[string]any{"event": "number", "demo": d.Name, "number": name, "better": sense, "median": s.Median, "lowest": s.Lowest, "highest": s.Highest, "seeds": len(seeds)}
			if sense != demo.Neither {
				line["worst"], line["worst_seed"] = s.Worst, s.Of
			}
			out.Encode(line)
		case sense == demo.Neither:
			out.Printf("%-*s  %-7s  %9.4g  %.4g to %.4g\n", wide, name, "-", s.Median, s.Lowest, s.Highest)
		default:
			out.Printf("%-*s  %-7s  %9.4g  %9.4g  %d\n", wide, name, sense, s.Median, s.Worst, s.Of)
		}
	}
	if !c.JSON {
		out.Printf("\n%d seeds, %s each\n", len(seeds), cli.InWords(time.Duration(ms/float64(len(seeds))*float64(time.Millisecond))))
	} else {
		out.Encode(map[string]any{"event": "end", "demo": d.Name, "seeds": len(seeds), "ms": ms})
	}
}
