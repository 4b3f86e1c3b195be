package memories

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/picture"
	"github.com/edgewise-ml/edgewise/tensor"
)

// letters are pictures of dots, all of one size.
type letters struct {
	names      []string
	wide, high int
	x          *tensor.Dense // a row a picture: +1 is a dot, −1 is none
}

// drawnLetter is a letter as it is written down: its rows, with blanks between them.
type drawnLetter struct{ name, rows string }

// capitals are the letters that are stored.
var capitals = []drawnLetter{
	{"G", "...#####.. ..#######. .##....##. .##....... .##....... .##..####. .##....##. .##....##. ..#######. ...#####.."},
	{"R", ".#######.. .########. .##....##. .##....##. .########. .#######.. .##.##.... .##..##... .##...##.. .##....##."},
	{"A", "....##.... ...####... ...#..#... ..##..##.. ..##..##.. .##....##. .########. .########. ##......## ##......##"},
	{"P", "#######... ########.. ##....##.. ##.....##. ##....##.. ########.. #######... ##........ ##........ ##........"},
	{"H", "##......## ##......## ##......## ##......## ########## ########## ##......## ##......## ##......## ##......##"},
}

// smalls are what capitals are paired with.
var smalls = []drawnLetter{
	{"g", "........ ..###.#. .#...##. .#....#. .#...##. ..###.#. ......#. ..####.."},
	{"r", "........ .#.###.. .##...#. .#...... .#...... .#...... .#...... ........"},
	{"a", "........ ..####.. ......#. ..#####. .#....#. .#...##. ..###.#. ........"},
	{"p", "........ .#.###.. .##...#. .#....#. .##...#. .#.###.. .#...... .#......"},
	{"h", ".#...... .#...... .#.###.. .##...#. .#....#. .#....#. .#....#. ........"},
}

// lettersOf returns glyphs as letters.
func lettersOf(glyphs []drawnLetter) *letters {
	l := &letters{}
	for _, g := range glyphs {
		l.add(g.name, strings.Fields(g.rows))
	}
	return l
}

// add adds a picture, whose size is that of the others.
func (l *letters) add(name string, rows []string) {
	l.names, l.wide, l.high = append(l.names, name), len(rows[0]), len(rows)
	var data []tensor.Float
	if l.x != nil {
		data = l.x.Data
	}
	for _, row := range rows {
		for _, c := range row {
			v := tensor.Float(-1)
			if c == '#' {
				v = 1
			}
			data = append(data, v)
		}
	}
	l.x = tensor.Of(data, len(l.names), l.wide*l.high)
}

// lettersHelp says what a file of letters is like.
const lettersHelp = "A file has pictures: a line with a name, then a row of # and . a line, all of one size"

// mostDots is how many dots a picture may have: a network has a weight for each two.
const mostDots = 4096

// picturesIn is a file of pictures, and the lines of their names, from 1 on.
type picturesIn struct {
	path  string
	lines []int
}

// wrong is an error about a line.
func (f *picturesIn) wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %s", f.path, line, fmt.Sprintf(format, args...))
}

// readLetters reads pictures of dots. Picture i belongs to set i mod sets, and those of a set have one
// size: with two sets pictures come in pairs.
func readLetters(path string, sets int) ([]*letters, *picturesIn, error) {
	lines, err := text.LoadLines(path)
	if err != nil {
		return nil, nil, err
	}
	f, out := &picturesIn{path: path}, make([]*letters, sets)
	for i := range out {
		out[i] = &letters{}
	}
	name, rows, begun := "", []string(nil), 0
	end := func() error {
		if begun == 0 {
			return nil
		}
		l := out[len(f.lines)%sets]
		if len(rows) == 0 {
			return f.wrong(begun, "%q has no rows of # and . beneath its name", name)
		}
		if l.x != nil && (len(rows[0]) != l.wide || len(rows) != l.high) {
			return f.wrong(begun, "%q has %d×%d dots, and %q has %d×%d; want pictures of one size", name, len(rows[0]), len(rows), l.names[0], l.wide, l.high)
		}
		if n := len(rows[0]) * len(rows); n > mostDots {
			return f.wrong(begun, "%q has %d dots; it may have %d", name, n, mostDots)
		}
		l.add(name, rows)
		f.lines, begun, rows = append(f.lines, begun), 0, nil
		return nil
	}
	for i, line := range append(lines, "") {
		line = strings.TrimSpace(line)
		if !isRow(line, rows) { // a name, or the end of a picture
			if err := end(); err != nil {
				return nil, nil, err
			}
			if line != "" {
				name, begun = line, i+1
			}
			continue
		}
		if begun == 0 {
			begun, name = i+1, strconv.Itoa(len(f.lines)+1)
		}
		if at := strings.Trim(line, "#."); at != "" {
			r, _ := utf8.DecodeRuneInString(at)
			return nil, nil, f.wrong(i+1, "%q in a row of dots; write # for a dot and . for none", r)
		}
		if len(rows) > 0 && len(line) != len(rows[0]) {
			return nil, nil, f.wrong(i+1, "the row has %d dots, and the one before it %d", len(line), len(rows[0]))
		}
		rows = append(rows, line)
	}
	switch n := len(f.lines); {
	case n == 0:
		return nil, nil, fmt.Errorf("%s: there are no pictures in it. %s", path, lettersHelp)
	case n%sets != 0:
		return nil, nil, f.wrong(f.lines[n-1], "picture %d has none to be paired with; they come in twos", n)
	}
	return out, f, nil
}

// isRow says whether a line is a row of dots, which may have a wrong sign in it: after other rows it may even begin with it.
func isRow(line string, before []string) bool {
	switch {
	case line == "":
		return false
	case line[0] == '#' || line[0] == '.':
		return true
	}
	return len(before) > 0 && strings.ContainsAny(line, "#.") && utf8.RuneCountInString(line) == len(before[0])
}

// ownLetters are the flags of letters of one's own.
type ownLetters struct{ stage.Files }

// check returns an error for files that cannot be read, or would be written over.
func (f ownLetters) check(written []cli.File) error {
	if f.Test != "" && f.Train == "" {
		return cli.Misuse("--test %s: it has cues for the pictures of --train: name those, too", f.Test)
	}
	return f.Apart(written)
}

// learnt returns the letters to store, in so many sets: of the file, or else the preset.
func (f ownLetters) learnt(preset ...[]drawnLetter) ([]*letters, error) {
	if f.Train != "" {
		sets, _, err := readLetters(f.Train, len(preset))
		return sets, err
	}
	var out []*letters
	for _, g := range preset {
		out = append(out, lettersOf(g))
	}
	return out, nil
}

// tried returns the pictures to try, each with the number of the letter that has its name; nil without a
// file of them.
func (f ownLetters) tried(stored *letters) (cues *letters, want []int32, err error) {
	if f.Test == "" {
		return nil, nil, nil
	}
	sets, in, err := readLetters(f.Test, 1)
	if err != nil {
		return nil, nil, err
	}
	cues = sets[0]
	if cues.wide != stored.wide || cues.high != stored.high {
		return nil, nil, in.wrong(in.lines[0], "%q has %d×%d dots, and %s has pictures of %d×%d", cues.names[0], cues.wide, cues.high, f.Train, stored.wide, stored.high)
	}
	for i, name := range cues.names {
		at := slices.Index(stored.names, name)
		if at < 0 {
			return nil, nil, in.wrong(in.lines[i], "there is no %q in %s; a cue has the name of what it should call up", name, f.Train)
		}
		want = append(want, int32(at))
	}
	return cues, want, nil
}

// rowsOf returns some rows of x.
func rowsOf(x *tensor.Dense, rows []int32) *tensor.Dense {
	y := tensor.New(len(rows), x.RowLen())
	for i, r := range rows {
		copy(y.Row(i), x.Row(int(r)))
	}
	return y
}

// sideBySide shows the first rows of some arrays as letters, two columns of the terminal a dot.
func (l *letters) sideBySide(xs ...*tensor.Dense) string {
	var b strings.Builder
	for k := range min(shownLetters, xs[0].Rows()) {
		for y := range l.high {
			for i, x := range xs {
				if i > 0 {
					b.WriteString("     ")
				}
				for _, v := range x.Row(k)[y*l.wide : (y+1)*l.wide] {
					b.WriteString(map[bool]string{true: "██", false: "··"}[v > 0])
				}
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shownLetters is how many letters are shown at most.
const shownLetters = 8

// columns are the headings of sideBySide.
func (l *letters) columns(titles ...string) string {
	var b strings.Builder
	for i, title := range titles {
		if i+1 < len(titles) {
			title = fmt.Sprintf("%-*s", 2*l.wide+5, title)
		}
		b.WriteString(title)
	}
	return b.String() + "\n\n"
}

// dots is a letter as a table of shades.
func (l *letters) dots(title string, x []tensor.Float) picture.Panel {
	h := &picture.Heat{Title: title, Top: 1}
	for y := range l.high {
		row := make([]float64, l.wide)
		for i, v := range x[y*l.wide : (y+1)*l.wide] {
			row[i] = float64(v+1) / 2
		}
		h.Values = append(h.Values, row)
	}
	return h
}
