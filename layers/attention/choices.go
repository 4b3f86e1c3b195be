package attention

// choices are the points of one set that a step may choose.
type choices struct {
	*Pointer
	taken         []bool
	first         int32 // chosen first; −1: none yet
	steps         int
	closed, ended bool
}

// begin begins an answer to a set of n points.
func (c *choices) begin(n int) {
	if cap(c.taken) < n {
		c.taken = make([]bool, n)
	}
	c.taken = c.taken[:n]
	clear(c.taken)
	c.first, c.steps, c.closed, c.ended = -1, 0, false, false
}

// may reports whether the next step may choose point j; len(taken) is ⇒.
func (c *choices) may(j int32) bool {
	switch {
	case int(j) == len(c.taken):
		return c.End && !c.ended
	case c.closed || c.ended:
		return false
	}
	return !c.NoRepeat || !c.taken[j] || c.Close && j == c.first && c.steps > 1
}

// take chooses j.
func (c *choices) take(j int32) {
	switch {
	case int(j) == len(c.taken):
		c.ended = true
		return
	case c.steps == 0:
		c.first = j
	case c.Close && j == c.first:
		c.closed = true
	}
	c.taken[j] = true
	c.steps++
}

// edges appends the sources of the next step, of a set whose points begin at from. ⇒ is
// source end.
func (c *choices) edges(src []int32, from, end int) []int32 {
	for j := range int32(len(c.taken)) {
		if c.may(j) {
			src = append(src, int32(from)+j)
		}
	}
	if c.may(int32(len(c.taken))) {
		src = append(src, int32(end))
	}
	return src
}

// longest is how many points an answer to a set of n may have.
func (l *Pointer) longest(n int) int {
	if l.Close {
		return n + 1
	}
	return n
}

// sources is how many sources there are to point at, for so many points.
func (l *Pointer) sources(points int) int {
	if l.End {
		return points + 1
	}
	return points
}
