package form

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/edgelist"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// lists are the endings of lists of edges in folders and archives, where other files may lie beside them. Named itself, a list may
// be called anything.
var lists = []string{".txt", ".csv", ".tsv", ".edges", ".edgelist"}

// edgeListForm is a list of edges in the form of SNAP: the numbers of two nodes a line, the source first. Lines that begin with
// # or % are comments. Numbers may leave gaps: nodes are those that occur, in ascending order, and their ids are
// their numbers. A list whose first line names columns is a table.
var edgeListForm = Form{
	Name:    "edges",
	Endings: lists,
	Says:    "a list of edges, the numbers of two nodes a line",
	Opens:   one(lists...),
	Takes:   func(*Files, string) string { return "" }, // any file that no other form takes is read as this
	Read:    readEdgeList,
}

// readEdgeList reads a list of edges, or the table that it is.
func readEdgeList(f *Files, main string, o Options) (*Raw, error) {
	named, err := f.namesColumns(main)
	if err != nil {
		return nil, err
	}
	if named {
		return tablesForm.Read(f, main, o)
	}
	r, err := f.open(main)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	list := &numberedEdges{budget: r.Budget}
	err = edgelist.Read(table.Text(r), list.add)
	if err == nil && list.n == 0 {
		err = errors.New("there are no edges in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.At(main), err)
	}
	ids, src, dst := list.number()
	origin := Origin{File: f.At(main), Unit: "edge", First: 1}
	return &Raw{
		Nodes: []Nodes{{Table: Table{Rows: ids.Len(), IDs: ids, Origin: origin}}},
		Edges: []Edges{{Table: Table{Rows: len(src), Origin: origin}, Source: src, Target: dst}},
	}, nil
}

// numberedEdges is a list of edges while it is read: eight bytes an edge as long as every
// number of a node fits 32 bits, and sixteen from then on.
type numberedEdges struct {
	n        int
	src, dst chunkedSlice[int32]
	wide     *wideEdges     // all edges, if there is one
	budget   *unpack.Budget // of the text
}

// edgeTakes is what an edge takes while it is read and a graph is made, in bytes,
// and wideTakes what it takes more if a number of a node is beyond 32 bits.
const edgeTakes, wideTakes = 24, 32

// wideEdges is a list of edges between nodes of any number.
type wideEdges struct{ src, dst chunkedSlice[int64] }

// add adds an edge.
func (e *numberedEdges) add(u, v int64) error {
	if e.n == math.MaxInt32 {
		return errors.New("there are more than 2³¹−1 edges")
	}
	e.n++
	if e.wide == nil && max(u, v) > math.MaxInt32 {
		if err := e.budget.Keep(wideTakes * e.n); err != nil {
			return err
		}
		e.wide = &wideEdges{widened(&e.src), widened(&e.dst)}
	}
	takes := edgeTakes
	if e.wide != nil {
		takes += wideTakes
	}
	if err := e.budget.Keep(takes); err != nil {
		return err
	}
	if e.wide != nil {
		e.wide.src.add(u)
		e.wide.dst.add(v)
	} else {
		e.src.add(int32(u))
		e.dst.add(int32(v))
	}
	return nil
}

// widened returns what p holds, which it gives up.
func widened(p *chunkedSlice[int32]) (wide chunkedSlice[int64]) {
	for part := range p.taken() {
		for _, v := range part {
			wide.add(int64(v))
		}
	}
	return wide
}

// number returns the numbers of the nodes that occur, in ascending order, and the
// edges between their places. The list is used up.
func (e *numberedEdges) number() (ids *Words, src, dst []int32) {
	if e.wide == nil {
		return placed(&e.src, &e.dst)
	}
	return placed(&e.wide.src, &e.wide.dst)
}

// placed is number of ends of 32 or 64 bits. The places of those of 32 are written over them.
func placed[T int32 | int64](source, target *chunkedSlice[T]) (ids *Words, src, dst []int32) {
	from, to := source.join(), target.join()
	numbers := distinct(from)
	numbers = append(numbers, distinct(to)...)
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return texts(numbers), places(from, numbers), places(to, numbers)
}

// distinct returns the different numbers of a list, ascending.
func distinct[T int32 | int64](list []T) []T {
	all := slices.Clone(list)
	slices.Sort(all)
	return slices.Clone(slices.Compact(all))
}

// places returns where each number of a list is among all of them.
func places[T int32 | int64](list, numbers []T) []int32 {
	at, narrow := any(list).([]int32)
	if !narrow {
		at = make([]int32, len(list))
	}
	for i, v := range list {
		k, _ := slices.BinarySearch(numbers, v)
		at[i] = int32(k)
	}
	return at
}

// texts returns numbers as texts, which share their bytes.
func texts[T int32 | int64](numbers []T) *Words {
	var all strings.Builder
	ends, digits := make([]int, len(numbers)), []byte(nil)
	for i, v := range numbers {
		digits = strconv.AppendInt(digits[:0], int64(v), 10)
		all.Write(digits)
		ends[i] = all.Len()
	}
	w, whole, start := &Words{Texts: make([]string, len(numbers))}, all.String(), 0
	for i, end := range ends {
		w.Texts[i], start = whole[start:end], end
	}
	return w
}
