package train

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// The rules of mteval-v13a for Western languages, in the form of SacreBLEU: each is
// applied to what the one before has left.
var rules13a = sync.OnceValue(func() []rule13a {
	return []rule13a{
		{regexp.MustCompile("([{-~\\[-` -&(-+:-@/])"), " ${1} "}, // punctuation stands alone
		{regexp.MustCompile(`([^0-9])([.,])`), "${1} ${2} "},     // so do point and comma,
		{regexp.MustCompile(`([.,])([^0-9])`), " ${1} ${2}"},     // unless between digits,
		{regexp.MustCompile(`([0-9])(-)`), "${1} ${2} "},         // and a dash after a digit
	}
})

type rule13a struct {
	match *regexp.Regexp
	by    string
}

// entities13a are replaced one after another, so that &amp;lt; becomes <.
var entities13a = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}

// cut13a puts blanks between the words of a text.
func cut13a(text string) string {
	text = strings.ReplaceAll(text, "<skipped>", "")
	text = strings.ReplaceAll(text, "-\n", "")
	text = strings.ReplaceAll(text, "\n", " ")
	for _, e := range entities13a {
		text = strings.ReplaceAll(text, e[0], e[1])
	}
	text = " " + text + " "
	for _, r := range rules13a() {
		text = r.match.ReplaceAllString(text, r.by)
	}
	return text
}

// blank reports what Python takes for a blank: what Unicode does, and four
// separators of ASCII.
func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
