package reading

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// A drawn answer is in its text, and the question decides which sentence and which of its words it is; persons
// and colours come again.
func TestDrawnPassages(t *testing.T) {
	rng, kinds, again := rand.New(rand.NewPCG(1, 2)), map[string]int{}, 0
	for range 500 {
		p := drawPassage(rng)
		said, all := p.said(p.answer), strings.Join(p.text, " ")
		kinds[p.question[0]]++
		ok := false
		switch p.question[0] {
		case "where":
			ok = said[0] == "the" && len(said) >= 2 && strings.Contains(strings.Join(drawnPlaces, " "), said[len(said)-1])
		case "who":
			ok = len(said) == 1 && strings.Contains(strings.Join(drawnPeople, " "), said[0])
		case "what":
			ok = len(said) == 1 && strings.Contains(strings.Join(drawnColours, " "), said[0])
		}
		if !ok {
			t.Fatalf("%q of %q is answered by %q", p.question, all, said)
		}
		if thing := p.question[len(p.question)-1]; strings.Count(all, " "+thing+" ") != 1 {
			t.Fatalf("%q of %q: the thing is not there once", p.question, all)
		}
		for _, w := range drawnPeople {
			if strings.Count(all, w) > 1 {
				again++
				break
			}
		}
	}
	if len(kinds) != 3 || again < 100 {
		t.Errorf("questions are %v; a person comes again in %d texts of 500", kinds, again)
	}
}

// Answers count by their words, wherever these stand.
func TestScorePassages(t *testing.T) {
	words := strings.Fields("in the old hall is the lamp of the old hall")
	ps := []passage{{text: words, answer: attention.Passage{First: 1, Last: 3}}, {text: words, answer: attention.Passage{First: 1, Last: 3}}, {text: words, answer: attention.Passage{First: 6, Last: 6}}}
	got := scorePassages(ps, []attention.Passage{{First: 8, Last: 10}, {First: 2, Last: 3}, {First: 0, Last: 0}})
	if want := (passageScores{1. / 3, (1 + 0.8) / 3}); math.Abs(got.exact-want.exact) > 1e-9 || math.Abs(got.f1-want.f1) > 1e-9 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The answer is pointed at in the last fact that has it; an answer that no statement has is an error with file and line.
func TestStoryPassages(t *testing.T) {
	q := text.Question{Story: []string{"Mary is in the hall.", "John took the milk.", "Sandra is in the hall."}, Text: "Where is Mary?", Answer: "hall", Facts: []int32{0}, Line: 4}
	ps, err := storyPassages("mine.txt", []text.Question{q})
	if err != nil || ps[0].answer.First != 4 || strings.Join(ps[0].text[:6], " ") != "mary is in the hall ." {
		t.Errorf("%+v: %v", ps, err)
	}
	q.Facts = nil
	if ps, err = storyPassages("mine.txt", []text.Question{q}); err != nil || ps[0].answer.First != 15 {
		t.Errorf("without facts %+v: %v", ps, err)
	}
	q.Answer = "yes"
	if _, err = storyPassages("mine.txt", []text.Question{q}); err == nil || !strings.Contains(err.Error(), `mine.txt: line 4: the answer "yes" is no word`) {
		t.Errorf("the error is %v", err)
	}
}
