package reading

import (
	"math/rand/v2"
	"strings"

	"github.com/edgewise-ml/edgewise/layers/attention"
)

// The words of drawn documents.
var (
	drawnPeople  = strings.Fields("anna boris clara david emma felix greta henry")
	drawnThings  = strings.Fields("ball book chair drum flute hat lamp ring")
	drawnColours = strings.Fields("black blue brown green red white")
	drawnKinds   = strings.Fields("big cold dark old quiet small")
	drawnPlaces  = strings.Fields("attic barn cellar garden hall kitchen shed tower")
)

// drawnFact is what one sentence says: who keeps which thing, of which colour, and where.
type drawnFact struct {
	person, thing, colour string
	place                 []string
}

// drawPassage draws a document of three to five sentences about who keeps what where, and a question about one of
// them, which the thing names. Persons, colours and words of places come again in other sentences, and which words of the sentence are
// the answer depends on the question, too.
func drawPassage(rng *rand.Rand) passage {
	one := func(words []string) string { return words[rng.IntN(len(words))] }
	var facts []drawnFact
	for _, k := range rng.Perm(len(drawnThings))[:3+rng.IntN(3)] {
		f := drawnFact{person: one(drawnPeople), thing: drawnThings[k], colour: one(drawnColours), place: []string{"the"}}
		for range rng.IntN(3) {
			f.place = append(f.place, one(drawnKinds))
		}
		f.place = append(f.place, one(drawnPlaces))
		facts = append(facts, f)
	}
	asked := rng.IntN(len(facts))
	var p passage
	p.question, p.answer = facts[asked].ask(rng.IntN(3))
	for i, f := range facts {
		words, places := f.tell(rng.IntN(2))
		if i == asked {
			kind := p.answer.First
			p.answer = attention.Passage{First: int32(len(p.text) + places[kind][0]), Last: int32(len(p.text) + places[kind][1])}
		}
		p.text = append(p.text, words...)
	}
	return p
}

// ask returns a question about a fact. First of the answer is what it asks for: 0 the place, 1 the person, 2 the colour.
func (f drawnFact) ask(kind int) ([]string, attention.Passage) {
	begin := [3]string{"where is the", "who keeps the", "what colour has the"}[kind]
	return append(strings.Fields(begin), f.thing), attention.Passage{First: int32(kind)}
}

// tell returns a fact as a sentence, in one of two orders, and the first and the last word of its place, its person
// and its colour.
func (f drawnFact) tell(order int) (words []string, places [3][2]int) {
	if order == 0 { // anna keeps the red ball in the old kitchen .
		words = append([]string{f.person, "keeps", "the", f.colour, f.thing, "in"}, f.place...)
		return append(words, "."), [3][2]int{{6, 5 + len(f.place)}, {0, 0}, {3, 3}}
	}
	n := len(f.place) // in the old kitchen is the red ball of anna .
	words = append([]string{"in"}, f.place...)
	return append(words, "is", "the", f.colour, f.thing, "of", f.person, "."), [3][2]int{{1, n}, {n + 6, n + 6}, {n + 3, n + 3}}
}

// drawnVocabulary are all words of drawn documents.
func drawnVocabulary() [][]string {
	return [][]string{drawnPeople, drawnThings, drawnColours, drawnKinds, drawnPlaces, strings.Fields("the in is of keeps . where who what colour has")}
}
