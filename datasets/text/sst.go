package text

import "strings"

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
	var trees []Tree
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := d.keep(100+28*strings.Count(line, "("), i); err != nil {
			return nil, err
		}
		t, err := ParseTree(line)
		if err != nil {
			return nil, d.wrong(i, "%w", err)
		}
		for v, y := range t.Labels {
			if labels > 0 && y >= labels {
				return nil, d.wrong(i, "node %d has label %d, want 0 to %d", v, y, labels-1)
			}
		}
		trees = append(trees, t)
	}
	return trees, nil
}
