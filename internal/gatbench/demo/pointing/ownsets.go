package pointing

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ownSet is a set of points in a user's file.
type ownSet struct {
	name    string
	line    int // of its first point or keyword, from 1 on
	at      [][2]float64
	best    float64 // the length of the shortest tour known; 0: the file does not say
	rounded bool    // distances are whole numbers, as TSPLIB has them
}

// exact returns the points from the lowest of both coordinates on, so that large ones keep their digits.
func (o ownSet) exact() *tensor.Dense { return o.scaled(1, [2]float64{}) }

// square returns the points in the middle of a unit square, as large as it: what a network that learnt from drawn points is
// used to.
func (o ownSet) square() *tensor.Dense {
	low, high := o.box()
	wide := max(high[0]-low[0], high[1]-low[1])
	if wide == 0 {
		wide = 1
	}
	return o.scaled(wide, [2]float64{(1 - (high[0]-low[0])/wide) / 2, (1 - (high[1]-low[1])/wide) / 2})
}

func (o ownSet) scaled(by float64, shift [2]float64) *tensor.Dense {
	low, _ := o.box()
	x := tensor.New(len(o.at), 2)
	for i, p := range o.at {
		for k, v := range p {
			x.Row(i)[k] = tensor.Float((v-low[k])/by + shift[k])
		}
	}
	return x
}

// box is the lowest and the highest of both coordinates.
func (o ownSet) box() (low, high [2]float64) {
	low, high = o.at[0], o.at[0]
	for _, p := range o.at {
		for k, v := range p {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	return low, high
}

// length is how long the way through some of the points is and back.
func (o ownSet) length(tour []int32) float64 {
	sum := 0.0
	for i, j := range tour {
		a, b := o.at[j], o.at[tour[(i+1)%len(tour)]]
		d := math.Hypot(a[0]-b[0], a[1]-b[1])
		if o.rounded {
			d = math.Floor(d + 0.5)
		}
		sum += d
	}
	return sum
}

// setsOf returns sets in unit squares; answer says what is right of each.
func setsOf(own []ownSet, answer func(*tensor.Dense) ([]int32, error)) (points.Sets, error) {
	s := points.Sets{Offsets: []int{0}}
	var rows []tensor.Float
	for _, o := range own {
		a, err := answer(o.exact())
		if err != nil {
			return s, fmt.Errorf("the set of line %d: %w", o.line, err)
		}
		rows = append(rows, o.square().Data...)
		s.Answers, s.Offsets = append(s.Answers, a), append(s.Offsets, len(rows)/2)
	}
	s.X = tensor.Of(rows, len(rows)/2, 2)
	return s, nil
}

// mostInSet is how many points a set has at most: a step looks at all of them.
const mostInSet = 1000

// readSets returns the sets of points in a file: two coordinates a line and an empty line between sets, or TSPLIB.
func readSets(path string) ([]ownSet, error) {
	lines, err := text.LoadLines(path)
	if err != nil {
		return nil, err
	}
	var r setReader
	for i, line := range lines {
		if err := r.read(i+1, strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("%s: the end: %w", path, err)
	}
	if len(r.sets) == 0 {
		return nil, fmt.Errorf("%s: there are no points in it: write two coordinates a line, and an empty line between sets", path)
	}
	return r.sets, nil
}

// setReader reads a file of sets, line by line.
type setReader struct {
	sets           []ownSet
	next           ownSet
	tsplib, coords bool   // within an instance of TSPLIB; behind its NODE_COORD_SECTION
	size           int    // DIMENSION
	metric         string // EDGE_WEIGHT_TYPE
}

var (
	keyLine = regexp.MustCompile(`^([A-Z][A-Z_]+)\s*(?::\s*(.*))?$`)
	known   = regexp.MustCompile(`(?i)\b(?:optimal|optimum|best)\b[^0-9]{0,30}([0-9]+(?:\.[0-9]+)?)`)
)

func (r *setReader) read(n int, line string) error {
	key := keyLine.FindStringSubmatch(line)
	switch {
	case line == "":
		if r.tsplib {
			return nil
		}
		return r.end()
	case line[0] == '#':
		return r.remark(line)
	case key != nil && !r.tsplib && key[1] == "EOF":
		return r.end()
	case key != nil:
		if !r.tsplib || key[1] == "NAME" {
			if err := r.end(); err != nil {
				return err
			}
			r.next.line, r.tsplib = n, true
		}
		return r.keyword(key[1], key[2])
	case r.tsplib && !r.coords:
		return fmt.Errorf("%.40q stands before NODE_COORD_SECTION: write a keyword such as NAME, DIMENSION or EDGE_WEIGHT_TYPE, a colon and its value", line)
	}
	if r.next.line == 0 {
		r.next.line = n
	}
	return r.point(line)
}

// remark takes the length of the shortest tour known from a line of words.
func (r *setReader) remark(line string) error {
	if m := known.FindStringSubmatch(line); m != nil {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil || v <= 0 {
			return fmt.Errorf("%.20q is no length", m[1])
		}
		r.next.best = v
	}
	return nil
}

// keyword takes a line of TSPLIB's head.
func (r *setReader) keyword(key, value string) error {
	switch value = strings.TrimSpace(value); key {
	case "NAME":
		r.next.name = value
	case "COMMENT":
		return r.remark(value)
	case "OPTIMAL", "BEST_KNOWN":
		return r.remark("best " + value)
	case "TYPE":
		if kind, _, _ := strings.Cut(value, " "); kind != "TSP" {
			return fmt.Errorf("TYPE is %.20q: the points of a TSP are read", value)
		}
	case "DIMENSION":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("DIMENSION is %.20q: write the number of points", value)
		}
		r.size = n
	case "EDGE_WEIGHT_TYPE":
		if r.metric = value; value != "EUC_2D" {
			return fmt.Errorf("EDGE_WEIGHT_TYPE is %.20q: points of a plane are read, EUC_2D", value)
		}
	case "NODE_COORD_SECTION":
		if r.coords = true; r.metric == "" {
			return fmt.Errorf("NODE_COORD_SECTION without EDGE_WEIGHT_TYPE before it: write EDGE_WEIGHT_TYPE : EUC_2D")
		}
	case "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE":
	case "EOF":
		return r.end()
	default:
		return fmt.Errorf("%.30q is not read: there are NAME, TYPE, COMMENT, DIMENSION, EDGE_WEIGHT_TYPE, NODE_COORD_SECTION, BEST_KNOWN and EOF", key)
	}
	return nil
}

// point takes a line of coordinates, in TSPLIB with a number before them.
func (r *setReader) point(line string) error {
	f := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' || c == ';' })
	form := "two coordinates, with a blank or a comma between them"
	if r.tsplib {
		form = "the number of a point and its two coordinates"
		if len(f) == 3 && f[0] == strconv.Itoa(len(r.next.at)+1) {
			f = f[1:]
		} else {
			return fmt.Errorf("%.40q is not point %d: write %s", line, len(r.next.at)+1, form)
		}
	}
	if len(f) != 2 {
		return fmt.Errorf("%.40q has %d numbers: write %s", line, len(f), form)
	}
	var p [2]float64
	for k, word := range f {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e15 {
			return fmt.Errorf("%.20q is no coordinate: write a number from -1e15 to 1e15", word)
		}
		p[k] = v
	}
	if len(r.next.at) == mostInSet {
		return fmt.Errorf("the set from line %d on has more than %d points: take some", r.next.line, mostInSet)
	}
	r.next.at = append(r.next.at, p)
	return nil
}

// end ends a set, if one was begun.
func (r *setReader) end() error {
	o := r.next
	n := len(o.at)
	switch {
	case o.line == 0: // a remark may stand before its set
		return nil
	case n < 3:
		return fmt.Errorf("the set from line %d on has %d points: it takes three", o.line, n)
	case r.size > 0 && r.size != n:
		return fmt.Errorf("the set from line %d on has %d points, its DIMENSION is %d", o.line, n, r.size)
	}
	o.rounded = r.tsplib
	if o.name == "" {
		o.name = fmt.Sprintf("line %d", o.line)
	}
	*r = setReader{sets: append(r.sets, o)}
	return nil
}
