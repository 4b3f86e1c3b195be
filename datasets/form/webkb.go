package form

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/edgelist"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The files of a WebKB dataset.
const (
	webPages = "out1_node_feature_label.txt"
	webLinks = "out1_graph_edges.txt"
)

// webkbForm is the pages of a university and their links (Texas, Cornell,
// Wisconsin), and other data that Pei and others (2020) publish so, Geom-GCN's: a folder with
// out1_node_feature_label.txt and out1_graph_edges.txt. The words of a page are zeros and ones, or
// where the first line says feature_amount, as that of film does, the numbers of those that are
// there. Links keep their direction. The splits are those published, if the folder ../splits or,
// as in their repository, ../../splits has them.
var webkbForm = Form{
	Name:    "webkb",
	Endings: []string{webLinks},
	Says:    "pages and their links as Geom-GCN has them, " + webPages + " and " + webLinks,
	Opens: func(names []string) (string, error) {
		return only(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return path.Base(n) != webLinks }))
	},
	Takes: func(_ *Files, name string) string {
		if base := path.Base(name); base != webPages && base != webLinks {
			return ""
		}
		return name
	},
	Read: readWebKB,
	Belongs: func(names []string, main string) (all []string) {
		for _, name := range names {
			if base := path.Base(name); path.Dir(name) == path.Dir(main) && (base == webPages || base == webLinks) {
				all = append(all, name)
			}
		}
		return all
	},
}

// readWebKB reads the two files of a folder, and the splits.
func readWebKB(f *Files, main string, _ Options) (*Raw, error) {
	p := &pages{files: f}
	dir := path.Dir(main)
	if err := p.read(path.Join(dir, webPages), p.readPages); err != nil {
		return nil, err
	}
	if err := p.read(path.Join(dir, webLinks), p.readLinks); err != nil {
		return nil, err
	}
	name := strings.ToLower(f.folderName(main))
	raw, err := p.raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.At(dir), err)
	}
	raw.Name = name
	raw.Nodes[0].Origin, raw.Edges[0].Origin = Origin{File: f.At(path.Join(dir, webPages)), Unit: "page"}, Origin{File: f.At(path.Join(dir, webLinks)), Unit: "link"}
	raw.Splits, err = splitsBeside(f, main, name, raw.Nodes[0].Rows)
	return raw, err
}

// splitsBeside reads the splits of n nodes that are published with a dataset of that name.
func splitsBeside(f *Files, main, name string, n int) (splits []Split, err error) {
	for _, up := range []string{"..", "../.."} {
		for k := range splitsMost {
			in, file := f.above(main, fmt.Sprintf("%s/splits/%s_split_0.6_0.2_%d.npz", up, name, k))
			if file == "" {
				break
			}
			some, err := readSplits(in, file, n)
			if err != nil {
				return nil, err
			}
			some[0].Name = strconv.Itoa(k)
			splits = append(splits, some[0])
		}
		if len(splits) > 0 {
			break
		}
	}
	return splits, nil
}

// pages is what the two files hold.
type pages struct {
	files    *Files
	width    int
	listed   bool      // words are numbers of those that are there
	words    [][]int32 // of each page; nil: not read yet
	labels   []int32
	src, dst chunkedSlice[int32]
	budget   *unpack.Budget // of the file that is read
}

// read reads a file without its first line, which names the columns.
func (p *pages) read(name string, from func(*bufio.Reader) error) error {
	f, err := p.files.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p.budget = f.Budget
	r := bufio.NewReader(f)
	head, err := r.ReadString('\n')
	head = strings.TrimPrefix(head, mark)
	p.listed = strings.Contains(head, "feature_amount")
	switch {
	case err == nil && !strings.HasPrefix(head, "node_id"):
		err = fmt.Errorf("line 1: %.40q does not begin with node_id", head)
	case err == io.EOF:
		err = errors.New("there is no line below the first")
	case err == nil:
		err = from(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.files.At(name), err)
	}
	return nil
}

// readPages reads lines of a page, its words and its class.
func (p *pages) readPages(r *bufio.Reader) error {
	pages := map[int][]int32{}
	labels := map[int]int32{}
	err := eachLine(r, func(words []string) error {
		if len(words) != 3 {
			return fmt.Errorf("%d columns, want a page, its words and its class", len(words))
		}
		v, err := strconv.Atoi(words[0])
		if _, ok := pages[v]; err != nil || ok {
			return fmt.Errorf("page %.40q is no number, or stands there already", words[0])
		}
		c, err := strconv.ParseInt(words[2], 10, 32)
		if err != nil {
			return fmt.Errorf("class %.40q is no number", words[2])
		}
		labels[v] = int32(c)
		if p.listed {
			pages[v], err = p.numbers(words[1])
		} else {
			pages[v], err = p.ones(words[1])
		}
		if err != nil {
			return err
		}
		return p.budget.Keep(paperTakes + wordTakes*len(pages[v]))
	})
	if err != nil {
		return fmt.Errorf("below line 1: %w", err)
	}
	for v := range len(pages) {
		if _, ok := pages[v]; !ok {
			return fmt.Errorf("there is no page %d, of %d pages", v, len(pages))
		}
		p.words, p.labels = append(p.words, pages[v]), append(p.labels, labels[v])
	}
	return nil
}

// ones returns which words of a list of zeros and ones are ones.
func (p *pages) ones(list string) ([]int32, error) {
	cols, width := []int32{}, 0
	for w := range strings.SplitSeq(list, ",") {
		switch w {
		case "0":
		case "1":
			cols = append(cols, int32(width))
		default:
			return nil, fmt.Errorf("word %d is %.40q, want 0 or 1", width, w)
		}
		width++
	}
	if p.width == 0 {
		p.width = width
	}
	if width != p.width {
		return nil, fmt.Errorf("%d words, want %d as in the first line", width, p.width)
	}
	return cols, nil
}

// numbers returns the words of a list of their numbers, ascending and each once.
func (p *pages) numbers(list string) (cols []int32, err error) {
	for w := range strings.SplitSeq(list, ",") {
		c, err := strconv.ParseInt(w, 10, 32)
		if err != nil || c < 0 || c == math.MaxInt32 {
			return nil, fmt.Errorf("word %.40q is no number from 0", w)
		}
		cols, p.width = append(cols, int32(c)), max(p.width, int(c)+1)
	}
	slices.Sort(cols)
	return slices.Compact(cols), nil
}

func (p *pages) readLinks(r *bufio.Reader) error {
	n := int64(len(p.words))
	err := edgelist.Read(r, func(u, v int64) error {
		if max(u, v) >= n {
			return fmt.Errorf("page %d; the pages are 0 to %d", max(u, v), n-1)
		}
		p.src.add(int32(u))
		p.dst.add(int32(v))
		return p.budget.Keep(edgeTakes)
	})
	if err != nil {
		return fmt.Errorf("below line 1: %w", err)
	}
	return nil
}

func (p *pages) raw() (*Raw, error) {
	n := len(p.words)
	if n == 0 {
		return nil, errors.New("there are no pages in it")
	}
	x := &sparse.CSR{NumRows: n, NumCols: p.width, Offsets: []int64{0}}
	for _, cols := range p.words {
		x.Cols = append(x.Cols, cols...)
		x.Offsets = append(x.Offsets, int64(len(x.Cols)))
	}
	x.Values = make([]tensor.Float, len(x.Cols))
	for k := range x.Values {
		x.Values[k] = 1
	}
	label := answer{of: OfNodes, name: "class"}
	if err := label.setClasses(p.labels); err != nil {
		return nil, fmt.Errorf("class %d, of %d pages", label.classes-1, n)
	}
	err := label.check(n)
	column, bad := label.column(nil)
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	src, dst := p.src.join(), p.dst.join()
	return &Raw{
		Nodes: []Nodes{{Listed: n, Table: Table{Rows: n, Columns: []Column{{Name: "words", Type: Many, Matrix: MatrixOf(x), Role: AsFeature}, column}}}},
		Edges: []Edges{{Table: Table{Rows: len(src)}, Source: src, Target: dst}},
	}, nil
}
