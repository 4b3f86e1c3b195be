package stage

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/cli"
)

// Files are those of a user in the place of a dataset: what is learnt, and what is tried. Empty: there is none.
type Files struct{ Train, Test string }

// Check returns an error if one of them is not named, or [Files.Apart] has one.
func (f Files) Check(written []cli.File) error {
	if (f.Train == "") != (f.Test == "") {
		return cli.Misuse("--train and --test go together: one file to learn from, and one to try")
	}
	return f.Apart(written)
}

// Apart returns an error if one of them is no ordinary file, or would be written over.
func (f Files) Apart(written []cli.File) error {
	in := []cli.File{{Flag: "--train", Path: f.Train}, {Flag: "--test", Path: f.Test}}
	if err := cli.Ordinary(in...); err != nil {
		return err
	}
	return cli.Apart(in, written)
}

// Enough returns an error for a file in which there is nothing.
func (f Files) Enough(learnt, tried int) error {
	for _, part := range []struct {
		n          int
		flag, path string
	}{{learnt, "--train", f.Train}, {tried, "--test", f.Test}} {
		if part.n == 0 {
			return fmt.Errorf("%s %s: there is nothing in it; it takes one text or more", part.flag, part.path)
		}
	}
	return nil
}
