package text

import (
	"fmt"
	"strings"
	"time"
)

// Antonyms returns six words and what each is answered with, in letters: man and women,
// black and white, king and queen, girl and boy, up and down, high and low. Each is filled
// up with P to five letters; P is read and written as a letter is.
func Antonyms() *Parallel {
	p := &Parallel{}
	for pair := range strings.FieldsSeq("man-women black-white king-queen girl-boy up-down high-low") {
		a, b, _ := strings.Cut(pair, "-")
		p.Source, p.Target = append(p.Source, filled(a)), append(p.Target, filled(b))
	}
	return p
}

// filled fills a word up to five letters.
func filled(word string) string { return word + strings.Repeat("P", 5-len(word)) }

// Dates returns Count days from 1950 to 2049, each as likely, as people write them and by
// ISO 8601: "3 march 2021" and "2021-03-03".
func (t Task) Dates() *Parallel {
	t.Min, t.Max = 1, 1
	rng, p := t.rng("text.Task.Dates", 1), &Parallel{}
	first := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)
	days := int(time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC).Sub(first).Hours()) / 24
	for range t.Count {
		d := first.AddDate(0, 0, rng.IntN(days))
		p.Source = append(p.Source, fmt.Sprintf("%d %s %d", d.Day(), strings.ToLower(d.Month().String()), d.Year()))
		p.Target = append(p.Target, d.Format(time.DateOnly))
	}
	return p
}
