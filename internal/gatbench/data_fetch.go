package gatbench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/fetch"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/source"
)

// dataFetchCommand is gatbench data fetch.
type dataFetchCommand struct {
	Names []string `arg:"" name:"name" help:"cora, citeseer or pubmed. For any other dataset, gatbench says who publishes it and where to put it."`
	Into  string   `placeholder:"DIR" help:"Download to this folder. Default: the user's cache."`
	JSON  bool     `name:"json" help:"Print a JSON object for each dataset, one a line."`

	getter  fetch.Getter
	sources func(name string) []datasets.Source // nil: those of package datasets
}

// fetched is a dataset whose files are there, as data fetch --json shows it.
type fetched struct {
	Event  string `json:"event"` // "fetched"
	Name   string `json:"name"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Folder string `json:"folder"`
}

func (c *dataFetchCommand) endsItself() {}

// Run downloads what is missing. What is there of a file when a signal comes stays
// for the next fetch.
func (c *dataFetchCommand) Run(e cli.Env) error {
	if c.sources == nil {
		c.sources = datasets.Sources
	}
	for _, name := range c.Names {
		if err := c.known(name); err != nil {
			return err
		}
	}
	dir := c.Into
	if dir == "" {
		cache, err := datasets.CacheDir()
		if err != nil {
			return fmt.Errorf("there is no cache to download into: %w: name a folder with --into", err)
		}
		dir = filepath.Join(cache, "planetoid")
	}
	cli.OutliveReader()
	p := report.NewPrinter(e.Out)
	for _, name := range c.Names {
		l, err := c.fetch(e, dir, strings.ToLower(name))
		if err != nil {
			return err
		}
		if c.JSON {
			p.Encode(l)
		} else {
			p.Printf("%s: %d files, %.1f MB, checksums right, in %s\n", l.Name, l.Files, float64(l.Bytes)/1e6, l.Folder)
		}
	}
	if !c.JSON {
		p.Next(source.Training(strings.ToLower(c.Names[0]), c.Into))
	}
	return p.Err()
}

// known returns an error for a name that cannot be fetched, which says how else to get it.
func (c *dataFetchCommand) known(name string) error {
	if c.sources(name) != nil {
		return nil
	}
	switch strings.ToLower(name) {
	case "karate", source.CSL, source.Planted:
		return cli.Misuse("%s is part of the program: there is nothing to fetch", name)
	}
	if i := slices.Index(datasets.Names(), strings.ToLower(name)); i >= 0 {
		return cli.Misuse("%s cannot be fetched, because gatbench knows no checksum for it: get it from %s; docs/use/datasets.md says where to put the file; %s data list shows whether it was found", name, datasets.Catalogue()[i].Home, cli.Program)
	}
	if _, isText := source.TextNamed(name); isText {
		return cli.Misuse("%s is a dataset of text, and gatbench cannot fetch those: docs/use/text.md lists the files that each is published as", name)
	}
	_, err := datasets.Find("", name)
	if err == nil {
		return cli.Misuse("%s is here already: %s data describe %s", name, cli.Program, name)
	}
	return err
}

// fetch downloads the files of a dataset that are missing.
func (c *dataFetchCommand) fetch(e cli.Env, dir, name string) (l fetched, err error) {
	shown := report.NewProgress(e.ErrOut)
	defer shown.Clear()
	files := c.sources(name)
	total, before := int64(0), int64(0)
	for _, f := range files {
		total += f.Size
	}
	c.getter.Progress = func(f fetch.File, done int64) {
		shown.Show("%.1f of %.1f MB  %s  %s", float64(before+done)/1e6, float64(total)/1e6, name, filepath.Base(f.Path))
	}
	for _, f := range files {
		file := fetch.File{URL: f.URL, Path: filepath.Join(dir, f.Name), Size: f.Size, SHA256: f.SHA256}
		err := c.getter.Get(e.Ctx, file)
		if e.Ctx.Err() != nil {
			return l, fmt.Errorf("interrupted; the next fetch continues from here")
		}
		if err != nil {
			return l, err
		}
		before += f.Size
	}
	return fetched{"fetched", name, len(files), total, dir}, nil
}
