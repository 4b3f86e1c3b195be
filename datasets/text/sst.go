package text

import (
	"fmt"
	"slices"
	"strings"
)

// sentiments is how many labels the Stanford Sentiment Treebank has.
const sentiments = 5

// ReadSST returns the trees of the Stanford Sentiment Treebank, 8,544, 1,101 and 2,210,
// from the folder or the archive of train.txt, dev.txt and test.txt. Labels are from 0,
// very negative, to 4, very positive. A word with a slash is written with a backslash
// before it, as in the files.
func ReadSST(path string) (train, val, test []Tree, err error) {
	b, err := openBundle(path, "")
	if err != nil {
		return nil, nil, nil, err
	}
	defer b.Close()
	var parts [3][]Tree
	for k, name := range []string{"train.txt", "dev.txt", "test.txt"} {
		d, lines, err := b.lines(name)
		if err != nil {
			return nil, nil, nil, err
		}
		if parts[k], err = treesOf(d, lines, sentiments); err != nil {
			return nil, nil, nil, err
		}
	}
	return parts[0], parts[1], parts[2], nil
}

// ReadTrees returns the trees of a file, one a line, as [ParseTree] reads them.
func ReadTrees(path string) ([]Tree, error) {
	d, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	lines, err := d.lines()
	if err != nil {
		return nil, err
	}
	return treesOf(d, lines, 0)
}

// treesOf returns the tree of each line that is not empty. There are that many labels,
// or any number if that is 0.
func treesOf(d *document, lines []string, labels int32) ([]Tree, error) {
	n := strings.Count(d.text, "(")
	if err := d.budget.Keep(28*n + 100*len(lines)); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	trees := make([]Tree, 0, len(lines))
	room := Tree{make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n), make([]string, 0, n)} // of all of them
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		t, err := parseTree(line, room)
		if err != nil {
			return nil, d.wrong(i, "%w", err)
		}
		for v, y := range t.Labels {
			if labels > 0 && y >= labels {
				return nil, d.wrong(i, "node %d has label %d, want 0 to %d", v, y, labels-1)
			}
		}
		room = Tree{room.Parent[t.Len():t.Len()], room.Labels[t.Len():t.Len()], room.Leaves[len(t.Leaves):len(t.Leaves)], room.Words[len(t.Words):len(t.Words)]}
		trees = append(trees, Tree{slices.Clip(t.Parent), slices.Clip(t.Labels), slices.Clip(t.Leaves), slices.Clip(t.Words)})
	}
	return trees, nil
}
