package form_test

import (
	"bufio"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// The form of docs/inside/adding-a-form.md, as a program has it that is not part of package form.

// adjacencyForm is lists of neighbours as networkx writes them: a node a line, and after it those that it leads to.
var adjacencyForm = form.Form{
	Name:    "adjlist",
	Endings: []string{".adjlist"},
	Says:    "lists of neighbours, as networkx writes them: a node a line, and after it those that it leads to",
	Opens: func(names []string) (string, error) {
		for _, name := range names {
			if strings.HasSuffix(name, ".adjlist") {
				return name, nil
			}
		}
		return "", nil
	},
	Read: readAdjacency,
}

func readAdjacency(f *form.Files, main string, o form.Options) (*form.Raw, error) {
	r, err := f.Open(main) // gzip and zstd are taken off
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ends := [2]form.Words{}
	origin := form.Origin{File: f.At(main)}
	lines, n := bufio.NewScanner(r), int32(0)
	for lines.Scan() {
		n++
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		for _, to := range words[1:] {
			ends[0].Texts, ends[1].Texts = append(ends[0].Texts, words[0]), append(ends[1].Texts, to)
			origin.Lines = append(origin.Lines, n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", f.At(main), n+1, err)
	}
	edges := form.Table{Rows: len(origin.Lines), Origin: origin, Columns: []form.Column{
		{Name: "source", Type: form.Word, Words: &ends[0]}, {Name: "target", Type: form.Word, Words: &ends[1]},
	}}
	return form.Assemble([]form.Named{{Table: edges, Of: form.OfEdges}}, o)
}

func Example_form() {
	files := fstest.MapFS{"club.adjlist": {Data: []byte("#friends\nann bob eve\nbob eve\neve\n")}}
	raw, err := form.ReadFS(files, ".", form.Options{Others: []form.Form{adjacencyForm}})
	if err != nil {
		log.Fatal(err)
	}
	nodes, edges := raw.Nodes[0], raw.Edges[0]
	for i := range edges.Rows {
		fmt.Println(nodes.IDs.At(int(edges.Source[i])), nodes.IDs.At(int(edges.Target[i])), edges.Origin.At(i))
	}
	// Output:
	// ann bob club.adjlist: line 2
	// ann eve club.adjlist: line 2
	// bob eve club.adjlist: line 3
}
