package form

import (
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Member is a file of a family of tables: those of nodes and edges that are one graph.
type Member struct {
	File           string // as it lies there
	Of             Of     // what its rows are; empty: its columns say so
	Type           string // of nodes
	Kind, From, To string // of edges; From and To are empty where the ids say of which types the ends are
}

// besideEdges are what tables of nodes are called beside one of edges: NAME_nodes.csv, and so on, of
// NAME_edges.csv. The first that is there lists the nodes.
var besideEdges = []string{"nodes", "target", "targets", "labels", "node_features", "features"}

// Family returns the tables of the family that a file belongs to, those of nodes first: PREFIXedges.EXT,
// PREFIXedges_KIND.EXT and PREFIXedges_FROM_KIND_TO.EXT, and beside them PREFIXnodes.EXT, PREFIXnodes_TYPE.EXT, and
// what besideEdges lists. A file that is called otherwise is alone.
func Family(names []string, main string, endings []string) []Member {
	prefix, rest, ok := partOfName(main, endings)
	if !ok {
		return []Member{{File: main}}
	}
	members := membersOf(names, prefix, endings)
	for i := range members {
		if _, r, _ := partOfName(members[i].File, endings); r == rest { // of two of one name that which is named
			members[i].File = main
		}
	}
	if len(members) == 1 && members[0].Of == OfNodes {
		members[0].Of = ""
	}
	return members
}

// FamilyIn returns the first table of the only family among some files, "" if there is none. Edges alone, or
// nodes alone, are one too, unless there are others.
func FamilyIn(names []string, endings []string) (main string, err error) {
	whole, alone := familiesIn(names, endings)
	if len(whole) > 0 {
		return only(whole)
	}
	return only(alone)
}

// familiesIn returns the first tables of edges of the families among some files that have nodes too, and the first tables of
// families of either alone.
func familiesIn(names []string, endings []string) (whole, alone []string) {
	var prefixes []string
	for _, name := range names {
		prefix, _, ok := partOfName(name, endings)
		if !ok || slices.Contains(prefixes, prefix) {
			continue
		}
		prefixes = append(prefixes, prefix)
		members := membersOf(names, prefix, endings)
		i := max(0, slices.IndexFunc(members, func(m Member) bool { return m.Of == OfEdges }))
		if members[0].Of == members[i].Of {
			alone = append(alone, members[i].File)
		} else {
			whole = append(whole, members[i].File)
		}
	}
	return whole, alone
}

// Named returns a table as one of the family.
func (m Member) Named(t Table) Named {
	return Named{Table: t, Of: m.Of, Type: m.Type, Kind: m.Kind, From: m.From, To: m.To}
}

// ReadFamily reads the family of tables that a file belongs to, each by read. Where a table of features follows one of nodes, the
// latter's other columns are none.
func (f *Files) ReadFamily(main string, endings []string, o Options, read func(m Member) ([]Named, error)) (*Raw, error) {
	members := Family(f.Names(), main, endings)
	last := -1 // of the tables of nodes of no type
	for i, m := range members {
		if m.Of == OfNodes && m.Type == "" {
			last = i
		}
	}
	features := last > 0 && strings.Contains(members[last].File, "features")
	var tables []Named
	for i, m := range members {
		some, err := read(m)
		if err != nil {
			return nil, err
		}
		if features && i < last {
			unused(&some[0].Table)
		}
		tables = append(tables, some...)
	}
	raw, err := Assemble(tables, o)
	if err != nil {
		return nil, err
	}
	raw.Name, raw.Size = f.familyName(members, main, endings), f.Size()
	return raw, nil
}

// familyName returns what the files of a family have in common, or else their folder.
func (f *Files) familyName(members []Member, main string, endings []string) string {
	prefix, _, _ := partOfName(main, endings)
	common := strings.TrimRight(path.Base("/"+prefix), "_-.")
	switch {
	case len(members) == 1:
		return stem(main)
	case strings.HasSuffix(prefix, "/") || common == "/" || common == "":
		return f.folderName(main)
	}
	return common
}

// unused says of a table's columns, of which another file has the features, that they are none.
func unused(t *Table) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if name := Plain(c.Name); slices.Contains(slices.Concat(LabelNames, PartNames, TitleNames, maskNames[:]), name) {
			continue
		}
		if c.Role = Unused; cells.Timely(c.Name) {
			c.Role = AsTime
		}
	}
}

// maskNames are columns that say which rows train, validate and test.
var maskNames = [3]string{"train_mask", "val_mask", "test_mask"}

// partOfName cuts a file's name into what the family has in common and the rest: edges, nodes, edges_KIND, labels …
func partOfName(name string, endings []string) (prefix, rest string, ok bool) {
	plain := unpack.Plain(name)
	ext := strings.ToLower(path.Ext(plain))
	if !slices.Contains(endings, ext) {
		return "", "", false
	}
	dir, stem := path.Split(plain[:len(plain)-len(ext)])
	for _, word := range append([]string{"edges"}, besideEdges...) {
		for at := 0; at < len(stem); at++ {
			i := strings.Index(stem[at:], word)
			if i < 0 {
				break
			}
			at += i
			after := stem[at+len(word):]
			whole := after == "" || (word == "edges" || word == "nodes") && len(after) > 1 && (after[0] == '_' || after[0] == '-')
			if ext == ".json" { // others of such a name are a whole graph
				whole = after == "" && (word == "edges" || strings.HasSuffix(word, "features"))
			}
			if whole && (at == 0 || strings.ContainsRune("_-.", rune(stem[at-1]))) {
				return dir + stem[:at], strings.Replace(stem[at:], word+"-", word+"_", 1), true
			}
		}
	}
	return "", "", false
}

// membersOf returns the tables whose names begin with a prefix. Of two files of one name and different endings
// the first ending counts.
func membersOf(names []string, prefix string, endings []string) []Member {
	files := map[string]string{} // by the rest of the name
	for _, ending := range endings {
		for _, name := range names {
			p, rest, ok := partOfName(name, endings)
			if ok && p == prefix && strings.EqualFold(path.Ext(unpack.Plain(name)), ending) && files[rest] == "" {
				files[rest] = name
			}
		}
	}
	var nodes, edges []Member
	var types, rests []string
	untyped := false
	for rest := range files {
		rests = append(rests, rest)
	}
	slices.Sort(rests)
	for _, rest := range besideEdges {
		if files[rest] != "" {
			nodes = append(nodes, Member{File: files[rest], Of: OfNodes})
			untyped = true
		}
	}
	for _, rest := range rests {
		if typ, ok := strings.CutPrefix(rest, "nodes_"); ok {
			nodes = append(nodes, Member{File: files[rest], Of: OfNodes, Type: typ})
			types = append(types, typ)
		}
	}
	for _, rest := range rests {
		if rest == "edges" {
			edges = append(edges, Member{File: files[rest], Of: OfEdges})
		} else if kind, ok := strings.CutPrefix(rest, "edges_"); ok {
			m := Member{File: files[rest], Of: OfEdges}
			m.From, m.Kind, m.To = partsOfKind(kind, types, untyped)
			edges = append(edges, m)
		}
	}
	return append(nodes, edges...)
}

// partsOfKind cuts FROM_KIND_TO, or FROM_TO. The types that have tables tell where, and of a type without a table the name is
// one word. Where no type of these has a table, there are to be three words and no table of nodes of all types;
// anything else is a KIND.
func partsOfKind(name string, types []string, untyped bool) (from, kind, to string) {
	for _, t := range types {
		if strings.HasPrefix(name, t+"_") && len(t) > len(from) {
			from = t
		}
	}
	rest := strings.TrimPrefix(name, from) // _KIND_TO
	for _, t := range types {
		if strings.HasSuffix(rest, "_"+t) && len(t) > len(to) {
			to = t
		}
	}
	words := strings.Split(name, "_")
	if from == "" && to == "" && (untyped || len(words) != 3) {
		return "", name, ""
	}
	if from == "" {
		from = words[0]
	}
	if to == "" {
		to = words[len(words)-1]
	}
	if len(from)+len(to)+1 > len(name) {
		return "", name, ""
	}
	return from, strings.Trim(name[len(from):len(name)-len(to)], "_"), to
}
