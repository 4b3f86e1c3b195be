package fused

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The gradient of Er belongs to destinations, and the loop that computes it goes over sources. The
// sources are in groups, whose number follows from the number of edges. What a destination gets from
// a group is added up in the order of its sources, and then the groups in order. There are two ways,
// with the same bits:
//
//   - each group has a copy of all destinations, and one thread (copies);
//   - where there are more threads than groups, each edge has a place, and a loop over destinations
//     adds them up (erPlaces). It costs more work, and grows to any number of threads.

// copiesFrom is from how many edges there are 2, 4 and 8 groups. Tests set it.
var copiesFrom = [3]int{1 << 9, 1 << 17, 1 << 22}

// erGroups is the number of groups for a matrix of nnz edges: few where copies would be more work
// than the edges.
func erGroups(nnz int) int {
	groups := 1
	for _, from := range copiesFrom {
		if nnz >= from {
			groups *= 2
		}
	}
	return groups
}

// derLen is the number of elements of all copies.
func (k *GAT) derLen() int {
	return erGroups(k.In.NNZ()) * k.In.NumRows * k.heads().padded
}

const (
	erRows   = 1 << 8 // destinations of a part, a byte
	erChunks = 8      // parts of the sources for each thread, at most
)

// erMost is how many numbers have places at once. Tests set it.
var erMost = 1 << 24

// erPlaces are the places of edges. The sources are in chunks, none of which has sources of two
// groups, and the chunks in rounds, as many as there are places for: all chunks of a round have
// their edges' numbers computed, and then all destinations add them up. A destination that is not done with its group keeps the sum until the next round.
type erPlaces struct {
	chunks []int   // the first source of each, and the end
	opens  []bool  // of each: it begins a group
	rounds []int   // the first chunk of each, and the end
	round  int     // that is computed
	parts  int     // of the destinations, of erRows
	rows   []int32 // of a round's edges, in the order of the turned matrix: their places, by chunks and parts of the destinations
	who    []uint8 // of each place: the destination in its part
	ends   []int32 // of each chunk of a round and each part: where the edges in order end
	sums   *[]tensor.Float
}

// plan makes about so many chunks, and the rounds.
func (p *erPlaces) plan(offsets []int64, groups []int, chunks, padded, rows int) {
	p.chunks, p.opens, p.rounds = append(p.chunks[:0], 0), p.opens[:0], append(p.rounds[:0], 0)
	p.parts = (rows + erRows - 1) / erRows
	each := (chunks + len(groups) - 2) / (len(groups) - 1)
	var room []int
	for g := range len(groups) - 1 {
		lo, hi, opens := groups[g], groups[g+1], true
		room = par.Split(offsets[lo:hi+1], each, room)
		for _, c := range room[1:] {
			if first := p.chunks[len(p.chunks)-1]; lo+c > first {
				p.chunks, p.opens, opens = append(p.chunks, lo+c), append(p.opens, opens), false
			}
		}
	}
	most := int64(max(erMost/padded, 1))
	for c := range len(p.chunks) - 1 {
		if first := p.rounds[len(p.rounds)-1]; c > first && offsets[p.chunks[c+1]]-offsets[p.chunks[first]] > most {
			p.rounds = append(p.rounds, c)
		}
	}
	p.rounds = append(p.rounds, len(p.chunks)-1)
	widest, edges := 0, 0
	for r := range len(p.rounds) - 1 {
		lo, hi := p.rounds[r], p.rounds[r+1]
		widest, edges = max(widest, hi-lo), max(edges, int(offsets[p.chunks[hi]]-offsets[p.chunks[lo]]))
	}
	p.ends = slices.Grow(p.ends[:0], widest*p.parts)[:widest*p.parts]
	p.rows, p.who = slices.Grow(p.rows[:0], edges)[:edges], slices.Grow(p.who[:0], edges)[:edges]
}

// firstOfRound is the first edge of the round.
func (t *gatBackward) firstOfRound() int64 {
	return t.turned.Offsets[t.places.chunks[t.places.rounds[t.places.round]]]
}

// sort gives the edges of chunk c their places, and returns the chunk's. Edges to one destination stay
// in the order they have.
func (t *gatBackward) sort(c int) (rows []int32) {
	p := &t.places
	from, to := t.turned.Offsets[p.chunks[c]], t.turned.Offsets[p.chunks[c+1]]
	i := c - p.rounds[p.round]
	ends := p.ends[i*p.parts : (i+1)*p.parts]
	clear(ends)
	cols := t.turned.Cols[from:to]
	for _, v := range cols {
		ends[v/erRows]++
	}
	at := int32(from - t.firstOfRound())
	for j, n := range ends {
		ends[j] = at
		at += n
	}
	rows = p.rows[from-t.firstOfRound():][:len(cols)]
	for j, v := range cols {
		place := &ends[v/erRows]
		rows[j], p.who[*place] = *place, uint8(v%erRows)
		*place++
	}
	return rows
}

// byPlaces does all rounds.
func (t *gatBackward) byPlaces() {
	p := &t.places
	if len(p.rounds) > 2 {
		p.sums = scratch.Borrow(t.k.In.NumRows * t.padded)
	}
	for p.round = range len(p.rounds) - 1 {
		par.Run(p.rounds[p.round+1]-p.rounds[p.round], t)
		if t.into.Er != nil {
			par.Run(p.parts, (*erPlacesSums)(t))
		}
	}
	if p.sums != nil {
		scratch.Repay(p.sums)
		p.sums = nil
	}
}

// erPlacesSums is the loop over the destinations after a round.
type erPlacesSums gatBackward

// Chunk does one part.
func (t *erPlacesSums) Chunk(part int) {
	p := &t.places
	lo, hi := part*erRows, min((part+1)*erRows, t.k.In.NumRows)
	if p.round == 0 && t.into.Sets&SetEr != 0 {
		clear(t.into.Er.Data[lo*t.heads : hi*t.heads])
	}
	var room *[]tensor.Float
	var sums []tensor.Float
	if p.sums != nil {
		sums = (*p.sums)[lo*t.padded : hi*t.padded]
	} else {
		room = scratch.Borrow((hi - lo) * t.padded)
		defer scratch.Repay(room)
		sums = *room
	}
	if p.round == 0 {
		clear(sums)
	}
	offsets, base := t.turned.Offsets, (*gatBackward)(t).firstOfRound()
	for c := p.rounds[p.round]; c < p.rounds[p.round+1]; c++ {
		if p.opens[c] && c > 0 {
			t.add(sums, lo, hi)
			clear(sums)
		}
		i := c - p.rounds[p.round]
		first := int32(offsets[p.chunks[c]] - base)
		if part > 0 {
			first = p.ends[i*p.parts+part-1]
		}
		addPlaces(sums, (*t.der)[int(first)*t.padded:], p.who[first:p.ends[i*p.parts+part]], t.padded)
	}
	if p.round == len(p.rounds)-2 {
		t.add(sums, lo, hi)
	}
}

// add adds the sums of a group to the gradient of the destinations from lo to hi.
func (t *erPlacesSums) add(sums []tensor.Float, lo, hi int) {
	if t.heads == t.padded {
		add(t.into.Er.Data[lo*t.heads:hi*t.heads], sums)
		return
	}
	for v := lo; v < hi; v++ {
		add(t.into.Er.Row(v), sums[(v-lo)*t.padded:][:t.heads])
	}
}

// addPlaces adds the numbers x of edges, of which there are so many each, to the sums of who they are of.
func addPlaces(sums, x []tensor.Float, who []uint8, numbers int) {
	switch numbers {
	case 1:
		for i, v := range who {
			sums[v] += x[i]
		}
	case 8:
		for i, v := range who {
			to, from := (*[8]tensor.Float)(sums[int(v)*8:]), (*[8]tensor.Float)(x[i*8:])
			to[0] += from[0]
			to[1] += from[1]
			to[2] += from[2]
			to[3] += from[3]
			to[4] += from[4]
			to[5] += from[5]
			to[6] += from[6]
			to[7] += from[7]
		}
	default:
		for i, v := range who {
			to := sums[int(v)*numbers:][:numbers]
			for h, dz := range x[i*numbers:][:numbers] {
				to[h] += dz
			}
		}
	}
}

// gatErGrads is the loop that adds up the gradients of Er from the copies.
type gatErGrads gatBackward

// Chunk does one part.
func (t *gatErGrads) Chunk(i int) {
	n := t.k.In.NumRows
	lo, hi := (*gatBackward)(t).part(i)
	if t.into.Sets&SetEr != 0 {
		clear(t.into.Er.Data[lo*t.heads : hi*t.heads])
	}
	for c := range t.groups {
		from := (*t.der)[c*n*t.padded:]
		if t.heads == t.padded {
			add(t.into.Er.Data[lo*t.heads:hi*t.heads], from[lo*t.heads:hi*t.heads])
			continue
		}
		for v := lo; v < hi; v++ {
			add(t.into.Er.Row(v), from[v*t.padded:][:t.heads])
		}
	}
}
