package main

import (
	"fmt"
	"strconv"
	"strings"
)

// setFanout sets how many neighbours are drawn, in the form in which numbers are
// printed: " 15, 010" is "15,10".
func (r *recipe) setFanout(flag *string) {
	if flag == nil {
		return
	}
	r.Fanout = *flag
	if ks, err := numbers(r.Fanout); err == nil {
		r.Fanout = strings.Join(strings.Fields(strings.Trim(fmt.Sprint(ks), "[]")), ",")
	}
}

// numbers reads what is given as --fanout.
func numbers(list string) ([]int, error) {
	var out []int
	for _, word := range strings.Split(list, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || k < 0 {
			return nil, misuse("--fanout %.60s: %.60q is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and 0 for all", list, word)
		}
		out = append(out, k)
	}
	return out, nil
}

// fanout returns how many neighbours are drawn for a node in each layer, 0 for all.
func (r *recipe) fanout() []int {
	if r.Fanout == "" {
		return make([]int, r.Layers)
	}
	ks, err := numbers(r.Fanout)
	if err != nil {
		panic(err) // flags and files are checked
	}
	return ks
}

// checkFanout returns an error for neighbours that cannot be drawn.
func (r *recipe) checkFanout() error {
	if r.Fanout == "" {
		return nil
	}
	m, err := findModel(r.Model)
	if err != nil {
		return err
	}
	ks, err := numbers(r.Fanout)
	switch {
	case err != nil:
		return err
	case m.Whole != "":
		return misuse("--fanout %s: a layer of %s %s: leave it out", r.Fanout, r.Model, m.Whole)
	case len(ks) != r.Layers:
		return misuse("--fanout %s: numbers given: %d, layers: %d; give one for each layer", r.Fanout, len(ks), r.Layers)
	case r.Batch == 0:
		return misuse("--fanout %s: neighbours are drawn for batches: give --batch too, such as --batch 1024", r.Fanout)
	}
	return nil
}

// batching says what a step on some of the nodes reads, "" if it is on all.
func (r *recipe) batching(example string) string {
	if r.Batch == 0 {
		return ""
	}
	text := fmt.Sprintf("batches of %d %ss", r.Batch, example)
	if r.Fanout == "" {
		return text + " with all their neighbours"
	}
	var drawn []string
	for i, k := range r.fanout() {
		if k == 0 {
			drawn = append(drawn, fmt.Sprintf("all in layer %d", i+1))
		} else {
			drawn = append(drawn, fmt.Sprintf("%d in layer %d", k, i+1))
		}
	}
	return text + "; neighbours drawn for each node: " + strings.Join(drawn, ", ") + "; evaluations read all"
}
