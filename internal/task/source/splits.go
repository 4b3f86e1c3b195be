package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/models"
)

// NoSuchSplit returns the error for a split that is neither a name of those there are nor a file.
func NoSuchSplit(name string, known ...string) error {
	write := "; write"
	if meant := spell.Meant(name, known); meant != "" {
		write = fmt.Sprintf("; did you mean %q? Write", meant)
	}
	return cli.Misuse("--splits %.60s: there is no such file%s %s, or the name of a .json or .npz file of the lists train, val and test", name, write, strings.Join(known, ", "))
}

// What --splits names, beside files.
const (
	SplitsOwn    = "planetoid" // the dataset's own, which OwnSplits says too
	OwnSplits    = "own"
	SplitsRandom = "random"          // drawn from the seed
	SplitsShchur = "shchur"          // drawn from the seed as Shchur and others do
	SplitsFolds  = models.SplitFolds // before a number: so many, as --folds cuts
	SplitsColumn = "column:"         // before a column's name: its words say which part a row is in
)

// Drawn reports whether a split is another one for each seed.
func Drawn(splits string) bool {
	return splits == SplitsRandom || splits == SplitsShchur || models.IsShares(splits)
}

// IsColumn reports whether a split is that of a column.
func IsColumn(splits string) bool { return strings.HasPrefix(splits, SplitsColumn) }

// NoFile reports whether --splits names no file.
func NoFile(splits string) bool {
	return OwnSplit(splits) || Drawn(splits) || IsFolds(splits) || models.IsByTime(splits) || IsColumn(splits)
}

// PartsOf returns the column of --splits column:NAME, perhaps with an equals sign and which of its words mean which part.
func PartsOf(splits string) (column string, words map[string]string, err error) {
	column, list, said := strings.Cut(strings.TrimPrefix(splits, SplitsColumn), "=")
	if column == "" {
		return "", nil, cli.Misuse("--splits %.60s: want a column after the colon, such as column:part, or column:region=val:north,test:south", splits)
	}
	if !said {
		return column, nil, nil
	}
	words = map[string]string{}
	for one := range strings.SplitSeq(list, ",") {
		part, word, ok := strings.Cut(one, ":")
		if !ok || word == "" || !slices.Contains([]string{"train", "val", "test"}, part) {
			return "", nil, cli.Misuse("--splits %.60s: %.40q says of no word which part it means: write train, val or test, a colon and the word, such as val:north", splits, one)
		}
		words[word] = part
	}
	return column, words, nil
}

// IsFolds reports whether a split is one of those that --folds cuts.
func IsFolds(splits string) bool { return strings.HasPrefix(splits, SplitsFolds) }

// SplitsEach is the --split-number that takes for each seed another of several splits.
const SplitsEach = "each"

// OwnSplit reports whether a split is the data's, as it stands or where one of its parts is drawn from others.
func OwnSplit(splits string) bool { return splits == SplitsOwn || splits == OwnSplits }
