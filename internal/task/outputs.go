package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/ranks"
)

// OutputFlags are what a training writes beside what it prints.
type OutputFlags struct {
	Save       string   `placeholder:"FILE" help:"Save the model to this file, for eval, predict and explain."`
	Picture    string   `placeholder:"FILE" group:"files" help:"Draw the loss and the score of each epoch to this .svg or .png file; of classes of nodes also the hidden layer and the errors by degree."`
	Plot       bool     `group:"files" help:"Show in the terminal what --picture draws."`
	Out        string   `aliases:"csv" placeholder:"FILE" group:"files" help:"Write a line for each epoch to this .csv file."`
	Checkpoint string   `placeholder:"FILE" group:"files" help:"Save the whole run to this file, at its end or when it is interrupted, for --resume."`
	Every      int      `default:"0" placeholder:"N" group:"files" help:"Write the --checkpoint after every N epochs, too."`
	Resume     string   `placeholder:"FILE" group:"files" help:"Continue the run of this checkpoint."`
	Log        string   `placeholder:"tensorboard:DIR" group:"files" help:"Log the run for TensorBoard to this folder, such as tensorboard:runs/first."`
	Attention  []string `placeholder:"FILE" group:"nodes" help:"Write the attention weights around --nodes to these files, separated by commas: as numbers (.csv) or pictures (.svg, .png)."`
	Nodes      []int32  `placeholder:"N" group:"nodes" help:"The nodes for --attention, such as 5,17. Default: a test node with at most 12 neighbours."`
	Profile    string   `placeholder:"FILE" group:"files" help:"Write a CPU profile of the training, for go tool pprof."`
}

// LogDir returns the folder that --log names.
func (o *OutputFlags) LogDir() string {
	_, dir, _ := strings.Cut(o.Log, ":")
	return dir
}

// CheckEvery returns an error for a checkpoint or a log that cannot be.
func (o *OutputFlags) CheckEvery() error {
	kind, dir, _ := strings.Cut(o.Log, ":")
	switch {
	case o.Every < 0:
		return cli.Misuse("--every %d: it must be at least 1, or 0 for only at the end", o.Every)
	case o.Every > 0 && o.Checkpoint == "":
		return cli.Misuse("--every %d: it needs --checkpoint FILE", o.Every)
	case o.Log != "" && (kind != "tensorboard" || dir == ""):
		return cli.Misuse("--log %s: write tensorboard:DIR", o.Log)
	}
	return nil
}

// Single returns an error for files of one model that several are trained for.
func (o *OutputFlags) Single(seeds int) error {
	if seeds == 1 {
		return nil
	}
	for _, f := range []struct{ flag, file string }{
		{"save", o.Save}, {"checkpoint", o.Checkpoint}, {"picture", o.Picture}, {"attention", strings.Join(o.Attention, ",")},
	} {
		if f.file != "" {
			return cli.Misuse("--%s keeps one model and --seeds %d trains %d: leave one of the two flags out", f.flag, seeds, seeds)
		}
	}
	if o.Plot {
		return cli.Misuse("--plot shows one training and --seeds %d trains %d: leave one of the two flags out", seeds, seeds)
	}
	if o.Resume != "" {
		return cli.Misuse("--resume continues one run and --seeds %d trains %d: leave one of the two flags out", seeds, seeds)
	}
	return nil
}

// mostPanels is how many panels of attention a picture has side by side, and one
// under the other.
const mostPanels = 12

// Targets returns an error if a file cannot be written or could not hold what it
// is for.
func (o *OutputFlags) Targets(layers int) error {
	for _, path := range o.Attention {
		switch {
		case cli.IsPicture(path) && len(o.Nodes) > mostPanels:
			return cli.Misuse("--attention %s: a picture holds %d nodes at most, and --nodes names %d", path, mostPanels, len(o.Nodes))
		case cli.IsPicture(path) && layers > mostPanels:
			return cli.Misuse("--attention %s: a picture holds %d layers at most, and --layers is %d; a .csv file holds any number", path, mostPanels, layers)
		case filepath.Ext(path) != ".csv" && !cli.IsPicture(path):
			return cli.Misuse("--attention %s: its name must end in .csv, .svg or .png", path)
		}
	}
	if o.Picture != "" && !cli.IsPicture(o.Picture) {
		return cli.Misuse("--picture %s: its name must end in .svg or .png", o.Picture)
	}
	for _, f := range o.Files() {
		if err := cli.Target(strings.TrimPrefix(f.Flag, "--"), f.Path); err != nil {
			return err
		}
	}
	return o.folder()
}

// Files returns what is written.
func (o *OutputFlags) Files() []cli.File {
	files := []cli.File{{Flag: "--save", Path: o.Save}, {Flag: "--checkpoint", Path: o.Checkpoint}, {Flag: "--out", Path: o.Out}, {Flag: "--picture", Path: o.Picture}, {Flag: "--profile", Path: o.Profile}}
	for _, path := range o.Attention {
		files = append(files, cli.File{Flag: "--attention", Path: path})
	}
	return files
}

// kept reports whether anything is written beside what is printed.
func (o *OutputFlags) kept() bool {
	return o.Log != "" || slices.ContainsFunc(o.Files(), func(f cli.File) bool { return f.Path != "" })
}

// folder returns an error if --log names what can be no folder.
func (o *OutputFlags) folder() error {
	dir := o.LogDir()
	for at := dir; at != ""; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return fmt.Errorf("--log %s: %s is a file, and no folder", o.Log, at)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("--log %s: %w", o.Log, err)
		case at == filepath.Dir(at):
			return nil
		}
	}
	return nil
}

// CheckFiles returns an error for files that cannot be written, or that are also read.
func (o *OutputFlags) CheckFiles(in []cli.File) error {
	if err := o.CheckEvery(); err != nil {
		return err
	}
	if err := o.Targets(0); err != nil {
		return err
	}
	if err := cli.Ordinary(cli.File{Flag: "--resume", Path: o.Resume}); err != nil {
		return err
	}
	return cli.Apart(in, append(o.Files(), cli.File{Flag: "--log", Path: o.LogDir()}))
}

// ForRank leaves the files out for every rank but the first, which alone writes.
func (o *OutputFlags) ForRank(team *ranks.Team) {
	if team.Rank() > 0 {
		resume := o.Resume
		*o = OutputFlags{}
		o.Resume = resume
	}
}
