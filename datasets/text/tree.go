package text

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
)

// Tree is a sentence as a tree: its words are the leaves, and each node has a label. Node
// 0 is the root, a node comes before its children, and children are in the order of the
// text.
type Tree struct {
	Parent []int32 // of each node, −1 of the root
	Labels []int32
	Leaves []int32  // nodes, in the order of the text
	Words  []string // of the leaves
}

// ParseTree reads a tree in brackets: (LABEL WORD) is a leaf, (LABEL TREE …) a node with
// children, and labels are numbers from 0. Words are as they are written. The error names
// the byte.
//
//	(3 (2 a) (4 (3 lovely) (2 film)))
func ParseTree(line string) (Tree, error) {
	n := strings.Count(line, "(")
	return parseTree(line, Tree{Parent: make([]int32, 0, n), Labels: make([]int32, 0, n)})
}

// parseTree is [ParseTree] into the room of t, whose slices are empty.
func parseTree(line string, t Tree) (Tree, error) {
	p := treeParser{line: line, top: -1, t: t}
	for p.blanks(); p.at < len(line); p.blanks() {
		if err := p.next(); err != nil {
			return Tree{}, fmt.Errorf("byte %d: %w", p.at+1, err)
		}
	}
	switch {
	case p.top >= 0:
		return Tree{}, fmt.Errorf("byte %d: the tree is not closed: the bracket of node %d, label %d, has no end: close it with )", len(line), p.top, p.t.Labels[p.top])
	case len(p.t.Parent) == 0:
		return Tree{}, fmt.Errorf("byte 1: there is no tree: write (LABEL WORD) or (LABEL TREE …)")
	}
	return p.t, nil
}

// treeParser reads a tree from left to right.
type treeParser struct {
	line   string
	at     int
	top    int32 // the node whose bracket is open, −1 outside of all
	filled bool  // it has a word or children
	leaf   bool  // it has a word
	t      Tree
}

// blanks goes on to what is no blank.
func (p *treeParser) blanks() {
	for p.at < len(p.line) && (p.line[p.at] == ' ' || p.line[p.at] == '\t') {
		p.at++
	}
}

// word returns what stands before the next blank or bracket.
func (p *treeParser) word() string {
	start := p.at
	for p.at < len(p.line) && !strings.ContainsRune(" \t()", rune(p.line[p.at])) {
		p.at++
	}
	return p.line[start:p.at]
}

// next reads a bracket or a word.
func (p *treeParser) next() error {
	switch c := p.line[p.at]; {
	case p.top < 0 && (c != '(' || len(p.t.Parent) > 0):
		return fmt.Errorf("%.20q stands outside of the tree: write one tree a line", p.line[p.at:])
	case c == '(':
		return p.open()
	case c == ')':
		if !p.filled {
			return fmt.Errorf("node %d has neither a word nor children: write (LABEL WORD)", p.top)
		}
		p.at++
		p.top, p.filled, p.leaf = p.t.Parent[p.top], true, false
		return nil
	case p.filled:
		return fmt.Errorf("the word %.20q follows a word or a tree: a leaf has one word, and other nodes only trees", p.word())
	}
	p.t.Leaves, p.t.Words = append(p.t.Leaves, p.top), append(p.t.Words, p.word())
	p.filled, p.leaf = true, true
	return nil
}

// open reads a bracket and the label behind it.
func (p *treeParser) open() error {
	if p.leaf {
		return fmt.Errorf("a tree follows the word %.20q: a leaf has one word and nothing else", p.t.Words[len(p.t.Words)-1])
	}
	p.at++
	start := p.at
	text := p.word()
	label, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		p.at = start
		return fmt.Errorf("%.20q is no label: write a number, such as 2, behind the bracket", text)
	}
	p.t.Parent, p.t.Labels = append(p.t.Parent, p.top), append(p.t.Labels, int32(label))
	p.top, p.filled = int32(len(p.t.Parent)-1), false
	return nil
}

// Len returns the number of nodes.
func (t Tree) Len() int { return len(t.Parent) }

// String returns the tree in brackets, as [ParseTree] reads it.
func (t Tree) String() string {
	var b strings.Builder
	leaf, open := 0, []int32{}
	for v, parent := range t.Parent {
		for len(open) > 0 && open[len(open)-1] != parent {
			open = open[:len(open)-1]
			b.WriteByte(')')
		}
		if v > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "(%d", t.Labels[v])
		open = append(open, int32(v))
		if leaf < len(t.Leaves) && t.Leaves[leaf] == int32(v) {
			b.WriteByte(' ')
			b.WriteString(t.Words[leaf])
			leaf++
		}
	}
	b.WriteString(strings.Repeat(")", len(open)))
	return b.String()
}

// check returns an error unless the root is first and there is a label a node and a word a leaf.
func (t Tree) check() error {
	n := len(t.Parent)
	if n == 0 || t.Parent[0] >= 0 {
		return errors.New("node 0 is no root: the root comes first")
	}
	if len(t.Labels) != n || len(t.Leaves) != len(t.Words) {
		return fmt.Errorf("%d labels for %d nodes and %d words for %d leaves: want one each", len(t.Labels), n, len(t.Words), len(t.Leaves))
	}
	for _, u := range t.Leaves {
		if u < 0 || int(u) >= n {
			return fmt.Errorf("leaf %d is no node, of which there are %d", u, n)
		}
	}
	return nil
}

// TreeBatch is some trees in one graph.
type TreeBatch struct {
	Graph  *graph.Graph // from children to parents; the kind of an edge is the child's ordinal, 0 the leftmost
	Labels []int32      // of each node
	Tokens []int32      // of each node, −1 of one without a word
	Leaves []int32      // nodes that have a word
	Roots  []int32      // a node a tree
}

// BatchTrees returns trees as one graph, each a member of it, with the numbers that v has
// for their words. Nodes are numbered along the first tree, then along the second and so
// on. The error names a tree that is none. What goes into a Tree-LSTM are the rows of an
// embedding, and zeros for inner nodes:
//
//	x := t.Use(embedding).Embedding(b.Tokens, grad.NoLabel)
func BatchTrees(trees []Tree, v *Vocabulary) (*TreeBatch, error) {
	b, parents, base := &TreeBatch{}, make([][]int32, len(trees)), int32(0)
	for i, t := range trees {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("text: tree %d: %w", i, err)
		}
		parents[i] = t.Parent
		b.Roots = append(b.Roots, base)
		b.Labels = append(b.Labels, t.Labels...)
		for range t.Parent {
			b.Tokens = append(b.Tokens, -1)
		}
		for k, u := range t.Leaves {
			b.Leaves = append(b.Leaves, base+u)
			b.Tokens[base+u] = v.ID(t.Words[k])
		}
		base += int32(len(t.Parent))
	}
	var err error
	b.Graph, err = graph.Trees(parents...)
	return b, err
}

// sentiments is how many labels the Stanford Sentiment Treebank has.
const sentiments = 5

// LoadSST is [ReadSST] of the folder or the archive at path.
func LoadSST(path string) (train, val, test []Tree, err error) { return sst(openBundle(path, "")) }

// ReadSST returns the trees of the Stanford Sentiment Treebank, 8,544, 1,101 and 2,210, of
// train.txt, dev.txt and test.txt. Labels are from 0, very negative, to 4, very positive. A
// word with a slash is written with a backslash before it, as in the files.
func ReadSST(fsys fs.FS) (train, val, test []Tree, err error) { return sst(openFS(fsys, "")) }

func sst(b *bundle, err error) (train, val, test []Tree, _ error) {
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

// LoadTrees is [ReadTrees] of the file at path.
func LoadTrees(path string) ([]Tree, error) { return trees(linesOf(documentOf(openFile(path)))) }

// ReadTrees returns the trees of a text, one a line, as [ParseTree] reads them.
func ReadTrees(r io.Reader) ([]Tree, error) { return trees(linesOf(documentOf(openStream(r)))) }

func trees(d *document, lines []string, err error) ([]Tree, error) {
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
		return nil, in(d.path, err)
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
