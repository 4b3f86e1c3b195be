package main

import (
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
)

// splitsTime is the --splits that divides by a column that says when, perhaps with a colon and
// the column's name, and a colon and where training and validation end: time:year:2017,2018.
const splitsTime = "time"

// byTime reports whether --splits divides by time.
func byTime(splits string) bool {
	return splits == splitsTime || strings.HasPrefix(splits, splitsTime+":")
}

// noFile reports whether --splits names no file.
func noFile(splits string) bool {
	return splits == splitsOwn || splits == ownSplits || drawn(splits) || isFolds(splits) || byTime(splits)
}

// timeOf returns the column that --splits names, and where the parts end.
func timeOf(splits string) (column string, u datasets.Until, err error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(splits, splitsTime), ":")
	column, ends, _ := strings.Cut(rest, ":")
	if strings.Contains(column, ",") || len(column) > 4 && column[4] == '-' && column[0] >= '0' && column[0] <= '9' { // a time has colons of its own
		column, ends = "", rest // of the only one
	}
	if ends == "" {
		return column, u, nil
	}
	var ok bool
	if u.Train, u.Val, ok = strings.Cut(ends, ","); !ok || u.Train == "" || u.Val == "" {
		return "", u, misuse("--splits %.100s: want where training and where validation ends after the column, such as time:year:2017,2018", splits)
	}
	return column, u, nil
}

// splitByTime divides the nodes of which anything is known.
func splitByTime(d *datasets.Dataset, g *goal, splits string) (s datasets.Split, err error) {
	column, u, err := timeOf(splits)
	if err != nil {
		return s, err
	}
	if s, err = d.NodesByTime(column, u); err != nil {
		return s, misuse("--splits %.100s: %w", splits, err)
	}
	for _, part := range []*[]int32{&s.Train, &s.Val, &s.Test} {
		known := (*part)[:0]
		for _, v := range *part {
			if g.Known(v) {
				known = append(known, v)
			}
		}
		if *part = known; len(known) == 0 {
			return s, misuse("--splits %.100s: of a part no node has %s", splits, g.kind.of())
		}
	}
	return s, nil
}

// edgesByTime divides the edges.
func edgesByTime(d *datasets.Dataset, splits string) (s datasets.Split, err error) {
	column, u, err := timeOf(splits)
	if err != nil {
		return s, err
	}
	if s, err = d.EdgesByTime(column, u); err != nil {
		return s, misuse("--splits %.100s: %w", splits, err)
	}
	return s, nil
}
