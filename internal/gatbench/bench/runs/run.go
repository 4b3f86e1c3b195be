package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/suite"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trace"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Settings are what the flags of gatbench bench say. The zero value times everything.
type Settings struct {
	Version string   // of the program, for lines
	Names   []string // names of benchmarks, fronts of names, groups or patterns
	Threads int      // at most; 0: all there are
	Isolate bool     // each name in a process of its own
	Graph   string   // a file or a dataset
	Size    string   // or a generated graph
	Dims    []int
	Heads   *int
	Data    string // folder of the datasets' files
	Epochs  int    // 0: as many as the peers
	Seed    uint64
	Rows    string // trainings.RowsNeeded, which is the default, or RowsAll
	JSON    bool
	List    bool
	Plot    bool   // show in the terminal what Picture or Trace would draw
	Picture string // a file that the sweep is drawn to
	Beside  string // a table of compare.py, which is drawn instead
	Trace   trace.Settings

	Source trainings.Source // of trainings
	// Read reads a graph that is no matrix, with the weights of its edges if it has some.
	Read func(data, name string) (*graph.Graph, []tensor.Float, error)

	Budget bench.Budget      // the zero value is the run's own
	All    []bench.Benchmark // nil is all there are

	self func(ctx context.Context, args ...string) ([]byte, error) // runs the program; nil: in a process
}

// Run does what the settings say.
func Run(e cli.Env, s Settings) error {
	if s.Threads < 0 {
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all there are", s.Threads)
	}
	rule := bench.PeersBudget()
	switch {
	case s.sweeps():
		rule = bench.SweepBudget()
	case s.scaling():
		rule = bench.ScaleBudget()
	}
	rule = cmp.Or(s.Budget, rule)
	rule.Alone = s.sweeps() || s.scaling()
	timer := bench.NewTimer(s.Version, rule)
	defer par.SetThreads(s.Threads)()
	defer par.Hot()()
	if err := s.check(); err != nil {
		return err
	}
	switch {
	case s.Beside != "":
		return s.drawBeside(e)
	case s.Trace.From != "":
		return s.Trace.Show(e)
	}
	on, err := cli.Promptly(e.Ctx, s.open)
	if err != nil {
		return err
	}
	chosen, err := s.Chosen()
	if err != nil {
		return err
	}
	switch {
	case s.List:
		return list(e.Out, chosen)
	case s.Trace.File != "":
		s.Trace.Given = s.given()
		return s.Trace.Record(e, timer, chosen)
	case s.scaling():
		return s.scale(e, timer, chosen)
	}
	if s.everything() {
		fmt.Fprintf(e.ErrOut, "gatbench: %d names take ten to twenty minutes; Ctrl-C keeps the rows that are done. In about a minute: %s bench %s\n", len(chosen), cli.Program, bench.Sparse)
	}
	return s.timeAll(e, timer, on, chosen)
}

// everything reports whether nothing says what to time.
func (s *Settings) everything() bool { return len(s.Names) == 0 && s.Graph == "" && s.Size == "" }

// sweeps reports whether the sweep alone is to be timed.
func (s *Settings) sweeps() bool {
	return !s.everything() && !slices.ContainsFunc(s.Names, func(n string) bool { return n != bench.Sparse })
}

// lengthFamily is what is timed by the length of a sequence.
const lengthFamily = "length"

// byLength reports whether that alone is to be timed.
func (s *Settings) byLength() bool {
	return len(s.Names) > 0 && !slices.ContainsFunc(s.Names, func(n string) bool { return n != lengthFamily && !strings.HasPrefix(n, lengthFamily+"/") })
}

// scaling reports whether the run is the one that shows growth.
func (s *Settings) scaling() bool { return slices.Contains(s.Names, bench.Scale) }

// check returns an error for settings that do not fit each other, and completes them.
func (s *Settings) check() error {
	s.Rows = cmp.Or(s.Rows, trainings.RowsNeeded)
	if s.Epochs < 0 {
		return cli.Misuse("--epochs %d: it must be at least 1, or 0 for %d", s.Epochs, trainings.PeersEpochs)
	}
	if err := cli.OneOf("--rows", s.Rows, []string{trainings.RowsNeeded, trainings.RowsAll}); err != nil {
		return err
	}
	s.Trace.Plot = s.Plot
	return cmp.Or(s.Trace.Check(s.Graph), s.checkTrace(), s.checkScale(), s.checkPicture())
}

// checkTrace returns an error for what records have no use for.
func (s *Settings) checkTrace() error {
	flag := "--trace"
	if s.Trace.File == "" {
		flag = "--from"
	}
	switch {
	case !s.Trace.On():
		return nil
	case s.JSON:
		return cli.Misuse("--json: %s prints tables; --trace FILE.json keeps the record", flag)
	case s.List:
		return cli.Misuse("--list: it prints names and does nothing; leave it or %s out", flag)
	case s.Isolate:
		return cli.Misuse("--isolate: %s records in this process; leave one of them out", flag)
	case s.Picture+s.Beside != "":
		return cli.Misuse("--picture, --beside: %s draws another picture; leave one of them out", flag)
	case s.Trace.From != "" && !s.everything():
		return cli.Misuse("--from %s: what was recorded is shown and nothing is run; leave names, --graph and --size out", s.Trace.From)
	case s.Trace.From == "" && s.everything():
		return cli.Misuse("--trace %s: name what to record, such as layer/gat/arxiv/4x64; %s bench --list prints the names", s.Trace.File, cli.Program)
	case s.scaling():
		return cli.Misuse("--trace %s: %s times many numbers of threads; name what to record", s.Trace.File, bench.Scale)
	}
	return nil
}

// checkScale returns an error for what a run that shows growth has no use for.
func (s *Settings) checkScale() error {
	switch {
	case !s.scaling():
		return nil
	case len(s.Names) > 1:
		return cli.Misuse("%s: it has names of its own; give it alone", bench.Scale)
	case s.Graph+s.Size != "" || len(s.Dims) > 0 || s.Heads != nil:
		return cli.Misuse("%s: its sizes are fixed, so that machines can be compared; leave --graph, --size, --dim and --heads out", bench.Scale)
	case s.Isolate:
		return cli.Misuse("%s: it runs each name on several numbers of threads; leave --isolate out", bench.Scale)
	}
	s.Epochs = cmp.Or(s.Epochs, bench.ScaleEpochs)
	return nil
}

// checkPicture returns an error for a picture that cannot be drawn.
func (s *Settings) checkPicture() error {
	flag := "--picture " + s.Picture
	if s.Picture == "" {
		flag = "--plot"
	}
	switch {
	case s.Beside != "" && s.Picture == "" && !s.Plot:
		return cli.Misuse("--beside %s: it is drawn; name the picture by --picture FILE.svg, or show it here by --plot", s.Beside)
	case s.Plot && s.JSON:
		return cli.Misuse("--plot: it shows a picture to people; leave it or --json out")
	case s.Picture != "" && !cli.IsPicture(s.Picture):
		return cli.Misuse("--picture %s: its name must end in .svg or .png", s.Picture)
	case s.Beside == "" && !s.sweeps() && !s.byLength() && (s.Picture != "" || s.Plot && !s.Trace.On()):
		return cli.Misuse("%s: it shows a sweep; name %s, or %s, and nothing else", flag, bench.Sparse, lengthFamily)
	case s.Beside != "" && (s.Graph+s.Size != "" || !s.everything() && !s.sweeps()):
		return cli.Misuse("--beside %s: what compare.py measured is drawn and nothing is timed; leave names, --graph and --size out", s.Beside)
	case s.Picture == "":
		return nil
	}
	if err := cli.Target("picture", s.Picture); err != nil {
		return err
	}
	return cli.Apart([]cli.File{{Flag: "--beside", Path: s.Beside}, {Flag: "--graph", Path: s.Graph}}, []cli.File{{Flag: "--picture", Path: s.Picture}})
}

// open makes the benchmarks, and returns the graph that was chosen for them, or nil.
func (s *Settings) open() (*bench.Graph, error) {
	if s.self == nil {
		s.self = runSelf
	}
	if s.All != nil {
		return nil, nil
	}
	choice, err := s.choice()
	if err == nil {
		s.All = suite.All(choice, s.Trainings())
	}
	return choice.Graph, err
}

// Trainings are the trainings that the settings say.
func (s *Settings) Trainings() trainings.Trainings {
	return trainings.Trainings{Source: s.Source, Settings: trainings.Settings{
		Data: s.Data, Epochs: cmp.Or(s.Epochs, trainings.PeersEpochs), Seed: s.Seed, Rows: s.Rows,
	}}
}
