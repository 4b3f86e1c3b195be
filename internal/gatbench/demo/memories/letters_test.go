package memories

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
)

// written writes a file of a test and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Names, sizes and dots are those of the file, with empty lines between pictures and without, and with names or none.
func TestReadLetters(t *testing.T) {
	for name, text := range map[string]string{
		"apart":   "L\n#..\n#..\n\nT\n###\n.#.\n",
		"dense":   "L\n#..\n#..\nT\n###\n.#.",
		"windows": "\ufeffL\r\n  #..\r\n  #..\r\n\r\n\r\nT\r\n###\r\n.#.\r\n\r\n",
	} {
		sets, in, err := readLetters(written(t, "letters", text), 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l := sets[0]
		if !slices.Equal(l.names, []string{"L", "T"}) || l.wide != 3 || l.high != 2 || len(in.lines) != 2 {
			t.Errorf("%s: %v of %d×%d dots, of lines %v", name, l.names, l.wide, l.high, in.lines)
		}
		var dots bytes.Buffer
		for _, v := range l.x.Data {
			dots.WriteByte(map[bool]byte{true: '#', false: '.'}[v > 0])
		}
		if got := dots.String(); got != "#..#..###.#." {
			t.Errorf("%s: the dots are %s", name, got)
		}
	}
	sets, _, err := readLetters(written(t, "letters", "#.\n.#\n\n##\n..\n"), 1)
	if err != nil || !slices.Equal(sets[0].names, []string{"1", "2"}) {
		t.Errorf("without names they are %v: %v", sets, err)
	}
	sets, _, err = readLetters(written(t, "pairs", "A\n#.\n\na\n#\n\nB\n.#\n\nb\n.\n"), 2)
	if err != nil || !slices.Equal(sets[0].names, []string{"A", "B"}) || !slices.Equal(sets[1].names, []string{"a", "b"}) || sets[1].wide != 1 {
		t.Errorf("pairs are %v: %v", sets, err)
	}
}

// What cannot be read is an error with the file, the line and what to do.
func TestLettersThatAreRefused(t *testing.T) {
	for want, text := range map[string]string{
		"bad: there are no pictures in it. A file has pictures": "\n\n",
		`line 3: 'x' in a row of dots; write # for a dot`:       "L\n#..\n#.x\n",
		`line 4: 'o' in a row of dots`:                          "L\n#..\n#..\no##\n",
		"line 3: the row has 2 dots, and the one before it 3":   "L\n#..\n##\n",
		`line 5: "T" has 2×1 dots, and "L" has 3×2`:             "L\n#..\n#..\n\nT\n##\n",
		`line 4: "T" has no rows of # and . beneath its name`:   "L\n#..\n\nT\n\nU\n#..\n",
		`line 1: "L" has 4097 dots; it may have 4096`:           "L\n" + strings.Repeat("#", 4097),
	} {
		_, _, err := readLetters(written(t, "bad", text), 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if _, _, err := readLetters(written(t, "bad", "A\n#\n\na\n.\n\nB\n#\n"), 2); err == nil || !strings.Contains(err.Error(), "line 7: picture 3 has none to be paired with") {
		t.Errorf("of three pairs the error is %v", err)
	}
	if _, _, err := readLetters(filepath.Join(t.TempDir(), "none"), 1); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("of no file the error is %v", err)
	}
}

// Cues have the names and the size of letters, and come with letters of one's own.
func TestCuesOfLetters(t *testing.T) {
	stored := written(t, "stored", "L\n#..\n#..\n\nT\n###\n.#.\n")
	own := ownLetters{stage.Files{Train: stored, Test: written(t, "cues", "T\n###\n...\n\nL\n#..\n##.\n\nT\n.##\n.#.\n")}}
	sets, err := own.learnt(capitals)
	if err != nil {
		t.Fatal(err)
	}
	cues, want, err := own.tried(sets[0])
	if err != nil || cues.x.Rows() != 3 || !slices.Equal(want, []int32{1, 0, 1}) {
		t.Errorf("cues call up %v: %v", want, err)
	}
	for want, text := range map[string]string{
		`cues: line 1: there is no "X" in`:      "X\n###\n...\n",
		`cues: line 1: "T" has 2×1 dots, and `:  "T\n##\n",
		`cues: line 2: 'L' in a row of dots`:    "#..\nL..\n",
		`cues: there are no pictures in it. A `: "",
	} {
		if _, _, err := (ownLetters{stage.Files{Train: stored, Test: written(t, "cues", text)}}).tried(sets[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for want, f := range map[string]ownLetters{
		"it has cues for the pictures of --train":  {stage.Files{Test: "cues"}},
		"written over the file that --train reads": {stage.Files{Train: stored}},
	} {
		if err := f.check([]cli.File{{Flag: "--picture", Path: stored}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}
