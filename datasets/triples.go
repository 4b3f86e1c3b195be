package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Triples reads a knowledge graph from text with a fact a line, head, relation and tail,
// all of them words or numbers, between tabs, commas, semicolons or spaces; a first line
// may name the columns. It is the form of FB15k-237 and WN18RR:
//
//	vienna	capital_of	austria
//
// path is a file, perhaps in gzip or zstd, of which all facts train, or a folder of
// train, valid (or val, dev) and test, with .txt, .tsv or .csv after it. A fact that
// stands there twice counts once, in the part that comes first. The error names the file,
// the line and the value.
func Triples(path string) (*Knowledge, error) {
	t := &triples{entities: map[string]int{}, relations: map[string]int{}, seen: map[[3]int32]bool{}}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	files, err := tripleFiles(path)
	if err != nil {
		return nil, err
	}
	for part, file := range files {
		if file == "" {
			continue
		}
		if err := t.read(file, part); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(t.parts[0].heads) == 0 {
		return nil, fmt.Errorf("%s: there are no facts to train on", path)
	}
	k := &Knowledge{Name: name, Entities: len(t.entityNames), EntityNames: t.entityNames, RelationNames: t.relationNames}
	k.Train, k.Val, k.Test = t.parts[0].graph(k.Entities), t.parts[1].graph(k.Entities), t.parts[2].graph(k.Entities)
	return k, nil
}

// tripleFiles returns the files of the facts that train, validate and test.
func tripleFiles(path string) (files [3]string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		files[0] = path
		return files, regular.File(path)
	}
	for part, names := range [3][]string{{"train"}, {"valid", "val", "dev"}, {"test"}} {
		for _, name := range names {
			for _, ext := range []string{".txt", ".tsv", ".csv"} {
				file := filepath.Join(path, name+ext)
				switch err := regular.File(file); {
				case err == nil && files[part] == "":
					files[part] = file
				case err != nil && !errors.Is(err, fs.ErrNotExist):
					return files, err
				}
			}
		}
	}
	if files[0] == "" {
		return files, fmt.Errorf("%s: there is no train.txt, train.tsv or train.csv in it, with a fact a line", path)
	}
	return files, nil
}

// triples is a knowledge graph while it is read.
type triples struct {
	entities, relations        map[string]int
	entityNames, relationNames []string
	seen                       map[[3]int32]bool
	parts                      [3]facts
}

// tripleColumns are names that a first line may give the columns.
var tripleColumns = [3][]string{{"head", "h", "source", "subject"}, {"relation", "r", "rel", "predicate", "type"}, {"tail", "t", "target", "object"}}

func (t *triples) read(path string, part int) error {
	f, err := unpack.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := table.NewReader(f)
	if err != nil {
		return err
	}
	if len(rows.Columns) != 3 {
		return fmt.Errorf("line %d: %d fields, want 3: head, relation and tail", rows.Line(), len(rows.Columns))
	}
	head := true
	for i, names := range tripleColumns {
		head = head && slices.Contains(names, strings.ToLower(rows.Columns[i]))
	}
	if !head { // the first line is a fact
		if err := t.add([3]string(rows.Columns), part); err != nil {
			return fmt.Errorf("line %d: %w", rows.Line(), err)
		}
	}
	for rows.Next() {
		var fact [3]string
		size := 64
		for i, field := range rows.Fields() {
			fact[i] = string(field)
			size += 2 * len(field)
		}
		err := f.Budget.Keep(size)
		if err == nil {
			err = t.add(fact, part)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", rows.Line(), err)
		}
	}
	return rows.Err()
}

// add adds a fact.
func (t *triples) add(fact [3]string, part int) error {
	for i, word := range fact {
		if strings.TrimSpace(word) == "" {
			return fmt.Errorf("the %s is empty", tripleColumns[i][0])
		}
	}
	head, relation, tail := nameNumber(t.entities, &t.entityNames, fact[0]), nameNumber(t.relations, &t.relationNames, fact[1]), nameNumber(t.entities, &t.entityNames, fact[2])
	key := [3]int32{int32(head), int32(relation), int32(tail)}
	if !t.seen[key] {
		t.seen[key] = true
		t.parts[part].add(head, relation, tail)
	}
	return nil
}

// nameNumber returns the number of a name, which is the next if it is a new one.
func nameNumber(of map[string]int, names *[]string, name string) int {
	k, ok := of[name]
	if !ok {
		k = len(*names)
		of[name], *names = k, append(*names, name)
	}
	return k
}

// Divided returns k with shares of the training facts to validate and to test with,
// rounded down. Entities and relations of theirs are in a fact that trains, too; facts
// of which that cannot be said stay. The error says which part would have none.
func (k *Knowledge) Divided(rng *rand.Rand, val, test float64) (*Knowledge, error) {
	if !(val >= 0 && test >= 0 && val+test < 1) {
		return nil, fmt.Errorf("datasets: shares of %v and %v of the facts; want numbers from 0, together less than 1", val, test)
	}
	g := k.Train
	kinds, to, from := g.Kinds(), g.Destinations(), g.In().Cols
	entity, relation := make([]int, k.Entities), make([]int, k.Relations())
	for e, v := range to {
		entity[v]++
		entity[from[e]]++
		relation[kinds[e]]++
	}
	var parts [3]facts
	want := [3]int{0, int(val * float64(g.NumEdges())), int(test * float64(g.NumEdges()))}
	for _, e := range rng.Perm(g.NumEdges()) {
		u, v, r := from[e], to[e], kinds[e]
		part, least := 0, 1
		if u == v {
			least = 2 // it counted the entity twice
		}
		if entity[u] > least && entity[v] > least && relation[r] > 1 {
			for i := 1; i < 3 && part == 0; i++ {
				if len(parts[i].heads) < want[i] {
					part = i
				}
			}
		}
		if part > 0 {
			entity[u]--
			entity[v]--
			relation[r]--
		}
		parts[part].add(int(u), int(r), int(v))
	}
	for i, name := range []string{"", "validate", "test"} {
		if i > 0 && len(parts[i].heads) == 0 && [3]float64{0, val, test}[i] > 0 {
			return nil, fmt.Errorf("%s: of its %d facts none can be kept to %s with: each has an entity or a relation that no other fact has, or there are too few: name a folder of train.txt, valid.txt and test.txt", k.Name, g.NumEdges(), name)
		}
	}
	d := *k
	d.Train, d.Val, d.Test = parts[0].graph(k.Entities), parts[1].graph(k.Entities), parts[2].graph(k.Entities)
	return &d, nil
}
