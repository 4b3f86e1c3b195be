package text

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVocabulary(t *testing.T) {
	v, err := NewVocabulary([][]string{{"b", "a", "c"}, {"c", "b", "d"}, {"c"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	// c three times, b twice; a and d once.
	if v.Len() != 5 || v.ID("c") != First || v.ID("b") != First+1 || v.ID("a") != Unknown || v.Word(First) != "c" {
		t.Errorf("%d words: %q", v.Len(), v.words)
	}
	if got := v.Encode("  b\tc  zebra "); !slices.Equal(got, []int32{First + 1, First, Unknown}) {
		t.Errorf("encoded %v", got)
	}
	if got := v.Decode([]int32{Begin, First, 99, -1, End, First + 1}); got != "c <unknown> <unknown> b" {
		t.Errorf("decoded %q", got)
	}
	for id, want := range map[int32]string{Unknown: "<unknown>", Begin: "<begin>", End: "<end>", 5: "<unknown>", -1: "<unknown>"} {
		if got := v.Word(id); got != want {
			t.Errorf("token %d is %q, want %q", id, got, want)
		}
	}
	ties, _ := NewVocabulary([][]string{{"y", "x", "é", "z", "Z"}}, 1)
	if got := strings.Join(ties.words, ""); got != "Zxyzé" {
		t.Errorf("ties in the order %q", got)
	}
	if empty, err := NewVocabulary(nil, 1); err != nil || empty.Len() != 3 || len(empty.Encode("a b")) != 2 {
		t.Errorf("an empty vocabulary has %d tokens, error %v", empty.Len(), err)
	}
}

// A word of the text that is spelt like a special one is a word.
func TestSpecialWords(t *testing.T) {
	v, err := NewVocabulary([][]string{{"<end>", "a"}}, 1)
	if err != nil || v.ID("<end>") < First || v.Decode(v.Encode("a <end>")) != "a <end>" {
		t.Errorf("<end> is token %d, error %v", v.ID("<end>"), err)
	}
}

func TestInvalidUTF8(t *testing.T) {
	lines := []string{"fine", "a\u00e9b\xf0c"}
	want := "line 2, byte 5: 0xf0 is no UTF-8: save the text as UTF-8"
	_, err1 := NewCharacters(lines, true)
	_, err2 := NewWords(lines, 1, false)
	_, err3 := NewVocabulary([][]string{{"fine"}, {"a", "\u00e9\xf0"}}, 1) // a, a blank and é: four bytes
	for i, err := range []error{err1, err2, err3} {
		if err == nil || err.Error() != want {
			t.Errorf("case %d: error %v, want %s", i, err, want)
		}
	}
	if c, err := NewCharacters([]string{"\ufffd"}, false); err != nil || c.Encode("\xff")[0] != Unknown || c.Encode("\ufffd")[0] == Unknown {
		t.Errorf("U+FFFD is a character and a broken byte is none; error %v", err)
	}
}

func TestCharacters(t *testing.T) {
	c, err := NewCharacters([]string{"zoë", "Ångström", "日"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(c.words) || c.Len() != 3+12 {
		t.Errorf("characters %q", c.words)
	}
	if got := c.Decode(c.Encode("zoë日x")); got != "zoë日\ufffd" {
		t.Errorf("decoded %q", got)
	}
	folded, err := NewCharacters([]string{"zoë"}, true)
	if err != nil || folded.Decode(folded.Encode("Zöe\u0308")) != "\ufffdoe" {
		t.Errorf("decoded %q, error %v", folded.Decode(folded.Encode("Zöe\u0308")), err)
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "Abc -'/": "Abc -'/", "Übermäßig": "Ubermaßig", "Łódź": "Łodz", "e\u0301te\u0301": "ete", "ệ": "e", "Ǻ": "A",
		"ño": "no", "日本": "日本", "й": "й", "ø": "ø", "a\xffb": "a\ufffdb",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "",
		"Don't stop-start!": "Don|'|t|stop|-|start|!",
		"3.5 km":            "3|.|5|km",
		"a_b  c\td\u00a0e":  "a_b|c|d|e",
		"saftig-grünes":     "saftig|-|grünes",
		"e\u0301te\u0301 ½ हिन्दी 日本語。": "e\u0301te\u0301|½|हिन्दी|日本語|。",
		"a\xff\ufffdb": "a|\xff|\ufffd|b",
	} {
		if got := strings.Join(SplitWords(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	cased, err := NewWords([]string{"The the"}, 1, true)
	if err != nil || cased.Len() != 5 {
		t.Errorf("%d tokens of The and the, error %v", cased.Len(), err)
	}
	lower, err := NewWords([]string{"The the"}, 2, false)
	if err != nil || lower.Len() != 4 || lower.Decode(lower.Encode("THE cat")) != "the <unknown>" {
		t.Errorf("%d tokens of the, error %v", lower.Len(), err)
	}
}

// trainSlowly is the definition of TrainBytePairs: count everything again each time. It
// returns what the lines are made of in the end, too.
func trainSlowly(lines []string, size int) (merges [][2]int32, tokens []int32) {
	var pieces [][]int32
	for _, line := range lines {
		for len(line) > 0 {
			n := pieceOf(line)
			var ids []int32
			for _, b := range []byte(line[:n]) {
				ids = append(ids, First+int32(b))
			}
			pieces, line = append(pieces, ids), line[n:]
		}
	}
	for int(firstMerge)+len(merges) < size {
		counts := map[[2]int32]int{}
		for _, ids := range pieces {
			for i := range len(ids) - 1 {
				counts[[2]int32{ids[i], ids[i+1]}]++
			}
		}
		best, most := [2]int32{}, 1
		for pair, n := range counts {
			if n > most || n == most && n > 1 && (pair[0] < best[0] || pair[0] == best[0] && pair[1] < best[1]) {
				best, most = pair, n
			}
		}
		if most < 2 {
			break
		}
		for i, ids := range pieces {
			pieces[i] = joinAll(ids, best, firstMerge+int32(len(merges)))
		}
		merges = append(merges, best)
	}
	return merges, slices.Concat(pieces...)
}

func TestBytePairsAreTheMostFrequent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		var lines []string
		for range 30 {
			b := make([]byte, rng.IntN(40))
			for i := range b {
				b[i] = "aaabbc  d"[rng.IntN(9)]
			}
			lines = append(lines, string(b))
		}
		b, err := TrainBytePairs(lines, 320)
		if err != nil {
			t.Fatal(err)
		}
		merges, tokens := trainSlowly(lines, 320)
		if !slices.Equal(b.merges, merges) {
			t.Fatalf("of %q joined\n%v, want\n%v", lines, b.merges, merges)
		}
		if got := EncodeLines(b, lines).Tokens; !slices.Equal(got, tokens) {
			t.Fatalf("%q becomes\n%v, want\n%v", lines, got, tokens)
		}
	}
}

func TestBytePairs(t *testing.T) {
	lines := []string{"low lower lowest", "new newer newest", "low new"}
	b, err := TrainBytePairs(lines, 300)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Encode("newest")); n > 3 {
		t.Errorf("newest takes %d tokens", n)
	}
	for _, s := range []string{"", "low", " \t\n x  y ", "日本語 ünïcode", "a\xff\xc3", strings.Repeat("x", 1000), "e\u0301 'tis 3.14…", "  two", "\u00a0a"} {
		ids := b.Encode(s)
		if got := b.Decode(ids); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		for _, id := range ids {
			if id < First || int(id) >= b.Len() {
				t.Errorf("%q: token %d of %d", s, id, b.Len())
			}
		}
	}
	if got := b.Decode([]int32{Begin, First + 'a', Unknown, 9999, -5, End}); got != "a\ufffd\ufffd\ufffd" {
		t.Errorf("decoded %q", got)
	}
	if _, err := TrainBytePairs(lines, 258); err == nil || !strings.Contains(err.Error(), "the bytes alone take 259") {
		t.Errorf("258 tokens: error %v", err)
	}
	if none, err := TrainBytePairs([]string{"abc"}, 1000); err != nil || none.Len() != int(firstMerge) {
		t.Errorf("%d tokens of a text without repeats, error %v", none.Len(), err)
	}
}

// No token leads from one word into the next.
func TestPieces(t *testing.T) {
	for in, want := range map[string]string{
		"low lower":      "low| lower",
		"a  b":           "a| | b",
		"it's 42km!?":    "it|'|s| 42|km|!?",
		" \n x":          " \n| x",
		"end  ":          "end|  ",
		"\u00e9t\u00e9 ": "\u00e9t\u00e9| ",
	} {
		var got []string
		for s := in; s != ""; {
			n := pieceOf(s)
			got, s = append(got, s[:n]), s[n:]
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if n := pieceOf(strings.Repeat("日", 30)); n != 63 { // 21 whole characters
		t.Errorf("a piece of %d bytes", n)
	}
}

func TestSave(t *testing.T) {
	lines := []string{"Zoë said <hello> hello", "“hello” \u2028 said Zoë"}
	c, _ := NewCharacters(lines, true)
	w, _ := NewWords(lines, 2, true)
	v, _ := NewVocabulary([][]string{strings.Fields(lines[0])}, 1)
	b, _ := TrainBytePairs(lines, 300)
	for _, want := range []Tokeniser{c, w, v, b} {
		path := filepath.Join(t.TempDir(), "tokeniser.json")
		if err := Save(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil || reflect.TypeOf(got) != reflect.TypeOf(want) || got.Len() != want.Len() {
			t.Fatalf("%T comes back as %T, error %v", want, got, err)
		}
		for _, line := range append(lines, "ZOË never <hello>") {
			if !slices.Equal(got.Encode(line), want.Encode(line)) || got.Decode(want.Encode(line)) != want.Decode(want.Encode(line)) {
				t.Errorf("%T encodes %q as %v, want %v", want, line, got.Encode(line), want.Encode(line))
			}
		}
	}
	if err := Save(filepath.Join(t.TempDir(), "x"), struct{ Tokeniser }{}); err == nil || !strings.Contains(err.Error(), "only tokenisers of package text") {
		t.Errorf("saved a tokeniser of another package: error %v", err)
	}
}

// A model that holds a tokeniser is saved with it.
func TestTokenisersInJSON(t *testing.T) {
	type model struct {
		C *Characters
		W *Words
		V *Vocabulary
		B *BytePairs
	}
	lines := []string{"Zoë said hello", "hello Zoë"}
	var want, got model
	want.C, _ = NewCharacters(lines, true)
	want.W, _ = NewWords(lines, 2, true)
	want.V, _ = NewVocabulary([][]string{strings.Fields(lines[0])}, 1)
	want.B, _ = TrainBytePairs(lines, 270)
	b, err := json.Marshal(want)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s comes back as %+v, error %v", b, got, err)
	}
	err = json.Unmarshal([]byte(`{"C":{"tokeniser":"words","words":["a"]}}`), &got)
	wantError(t, err, "the JSON is of a *text.Words, want a *text.Characters")
}

func TestLoadErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "no tokeniser in JSON",
		"{}":                                `its tokeniser is "", want one of: white space, characters, words, byte pairs`,
		`{"tokeniser":"words","words":[1]}`: "no tokeniser in JSON",
		`{"tokeniser":"words","words":["a","b","a"]}`:                                                             `"a" is there twice`,
		`{"tokeniser":"characters","words":["ab"]}`:                                                               `word 0, "ab", is not one character`,
		`{"tokeniser":"byte pairs","merges":[[3,300]]}`:                                                           "pair 0 joins token 300, want one of 3 to 258",
		`{"tokeniser":"byte pairs","merges":[[3,4],[3,4]]}`:                                                       "pair 1 joins 3 and 4, as token 259 does",
		`{"tokeniser":"byte pairs","merges":[[3,3],[259,259],[260,260],[261,261],[262,262],[263,263],[264,264]]}`: "pair 6 is of 128 bytes, want at most 64",
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte(in), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", in, err, want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is a folder") {
		t.Errorf("loaded a folder: error %v", err)
	}
}

func FuzzBytePairs(f *testing.F) {
	f.Add("low lower lowest", "new  newest\n\xff", uint16(300))
	f.Fuzz(func(t *testing.T, train, line string, size uint16) {
		b, err := TrainBytePairs([]string{train}, int(firstMerge)+int(size%64))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{line, train} {
			if got := b.Decode(b.Encode(s)); got != s {
				t.Fatalf("%q comes back as %q", s, got)
			}
		}
	})
}

func FuzzTokenisers(f *testing.F) {
	f.Add("a Zoë\n", "x\xff y’")
	f.Fuzz(func(t *testing.T, known, line string) {
		c, err := NewCharacters([]string{known}, false)
		if (err == nil) != utf8.ValidString(known) {
			t.Fatalf("%q: error %v", known, err)
		}
		if err != nil {
			return
		}
		if got := c.Decode(c.Encode(known)); got != known {
			t.Fatalf("%q comes back as %q", known, got)
		}
		w, err := NewWords([]string{known}, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if ids := w.Encode(known); slices.Contains(ids, Unknown) {
			t.Fatalf("%q has unknown words: %v", known, ids)
		}
		if a, b := strings.Join(SplitWords(line), ""), strings.Join(strings.Fields(line), ""); a != b {
			t.Fatalf("%q: words %q, want %q", line, a, b)
		}
		if utf8.ValidString(Fold(known)) != true || Fold(Fold(known)) != Fold(known) {
			t.Fatalf("%q folds to %q", known, Fold(known))
		}
		for _, tok := range []Tokeniser{c, w, w.Vocabulary} {
			for _, id := range tok.Encode(line) {
				if id < 0 || int(id) >= tok.Len() {
					t.Fatalf("%q: token %d of %d", line, id, tok.Len())
				}
			}
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"tokeniser":"byte pairs","merges":[[3,4]]}`), "a")
	f.Add([]byte(`{"tokeniser":"characters","fold":true,"words":["a"]}`), "\xff")
	f.Add([]byte(`{"tokeniser":"words","words":["a","b"]}`), "a b")
	f.Fuzz(func(t *testing.T, b []byte, line string) {
		if tok, err := decode(b); err == nil {
			for _, id := range tok.Encode(line) {
				if id < 0 || int(id) >= tok.Len() {
					t.Fatalf("token %d of %d", id, tok.Len())
				}
			}
			tok.Decode(tok.Encode(line))
		}
	})
}
