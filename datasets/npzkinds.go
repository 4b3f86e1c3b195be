package datasets

import (
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// kindsMost is how many kinds an archive may number without names for them.
const kindsMost = 1 << 16

// kindArrays returns the arrays that keep the kinds of nodes or of edges, as noun says: a number
// each, and what the numbers are called.
func kindArrays(noun string, k *Kinds) []npy.Named {
	if k == nil {
		return nil
	}
	return []npy.Named{{Name: noun + "_kinds", Data: k.Of}, {Name: noun + "_kind_names", Data: k.Names}}
}

// kinds reads the kinds of n nodes or edges: as kindArrays has them, or, as PyG has them, numbers
// that are called node_type or edge_type. Files that have none have no such arrays.
func (z archive) kinds(noun string, n int) (*Kinds, error) {
	name := z.first(noun+"_kinds", noun+"_type")
	if name == "" {
		return nil, nil
	}
	a, err := z.column(name)
	if err != nil {
		return nil, err
	}
	of, err := elements(z, name, a, (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	names, err := z.names(noun + "_kind_names")
	if err != nil {
		return nil, err
	}
	if names == nil {
		most := slices.Max(append([]int32{-1}, of...))
		if most >= kindsMost {
			return nil, z.wrong(name, "there is kind %d; without %s_kind_names kinds are at most %d: number them from 0 without gaps", most, noun, kindsMost-1)
		}
		for k := range most + 1 {
			names = append(names, strconv.Itoa(int(k)))
		}
	}
	k := &Kinds{Names: names, Of: of}
	return k, z.wrongIf(name, k.check(n, noun))
}
