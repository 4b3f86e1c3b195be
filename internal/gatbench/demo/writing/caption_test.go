package writing

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// No picture that is learnt from has an unseen combination, and each one that is tested has; a caption names its
// things as one reads, each is drawn in its place, and all words are known.
func TestScenes(t *testing.T) {
	words := strings.Fields(captionWords())
	for _, u := range []novelty{{}, {parts: true}} {
		for _, some := range []bool{false, true} {
			for i, s := range drawScenes(rand.New(rand.NewPCG(1, 2)), 300, u, some) {
				found := false
				for k := range s.things {
					found = found || u.in(s.things, k)
				}
				if found != some {
					t.Fatalf("%+v, picture %d: %q has an unseen combination: %v", u, i, s.caption(), found)
				}
				for _, w := range strings.Fields(s.caption()) {
					if !slices.Contains(words, w) {
						t.Fatalf("%q has the word %s", s.caption(), w)
					}
				}
				for k, at := range s.things {
					drawn := 0
					for pixel, shown := range s.shows {
						if shown != k {
							continue
						}
						drawn++
						r, c := pixel/sceneSide, pixel%sceneSide
						if d := max(r-at.place/scenePlaces*placeSide, c-at.place%scenePlaces*placeSide); d < -1 || d > placeSide {
							t.Fatalf("picture %d: thing %d of %q is drawn in row %d and column %d", i, k, s.caption(), r, c)
						}
					}
					if drawn < 8 {
						t.Errorf("picture %d: thing %d of %q has %d pixels", i, k, s.caption(), drawn)
					}
				}
			}
		}
	}
	s := &scene{things: []thing{{0, 0, 1}, {2, 1, 2}, {4, 3, 6}}}
	if got, want := s.caption(), "a red circle left of a blue square above a purple cross"; got != want {
		t.Errorf("the caption is %q, want %q", got, want)
	}
}

// Nine of ten captions of combinations that it has never seen are right to the word.
func TestCaption(t *testing.T) {
	result := long(t, Caption, 0).result
	if exact, known := result["exact"].(float64), result["exact_known"].(float64); !(exact >= 0.9) || !(known >= 0.95) {
		t.Errorf("%v of the captions are right, and %v without unseen combinations", exact, known)
	}
}
