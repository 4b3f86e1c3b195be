package text

import (
	"cmp"
	"slices"
	"strings"
)

// classNames numbers the names of classes as they come, and in the end by their bytes.
type classNames struct {
	names []string
	ids   map[string]int32
}

// id returns the number of a name.
func (c *classNames) id(name string) int32 {
	id, ok := c.ids[name]
	if !ok {
		if c.ids == nil {
			c.ids = map[string]int32{}
		}
		name = strings.Clone(name) // of a line that need not be kept
		id = int32(len(c.names))
		c.ids[name] = id
		c.names = append(c.names, name)
	}
	return id
}

// sorted returns the names in the order of their bytes, and makes labels their numbers.
func (c *classNames) sorted(labels ...[]int32) []string {
	order := make([]int32, len(c.names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.names[a], c.names[b]) })
	names, place := make([]string, len(order)), make([]int32, len(order))
	for k, id := range order {
		names[k], place[id] = c.names[id], int32(k)
	}
	for _, some := range labels {
		for i, id := range some {
			some[i] = place[id]
		}
	}
	return names
}
