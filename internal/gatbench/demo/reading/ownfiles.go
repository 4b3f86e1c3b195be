package reading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
)

// ownFiles are a user's files, in the forms of texts.
type ownFiles struct{ stage.Files }

// questions returns what is asked in files of bAbI's form.
func (f ownFiles) questions(s *stage.Stage) (learnt, tried []text.Question, err error) {
	if learnt, err = text.LoadQuestions(f.Train); err != nil {
		return nil, nil, err
	}
	if tried, err = text.LoadQuestions(f.Test); err != nil {
		return nil, nil, err
	}
	if err := f.Enough(len(learnt), len(tried)); err != nil {
		return nil, nil, err
	}
	if err := asks("--train "+f.Train, learnt); err != nil {
		return nil, nil, err
	}
	if err := asks("--test "+f.Test, tried); err != nil {
		return nil, nil, err
	}
	return learnt[:s.Count(len(learnt))], tried[:s.Count(len(tried))], nil
}

// asks returns an error for a question without words, or without a statement before it. of names the file.
func asks(of string, questions []text.Question) error {
	for _, q := range questions {
		switch {
		case strings.TrimSpace(plainWords(q.Text)) == "":
			return fmt.Errorf("%s: line %d: the question has no words", of, q.Line)
		case len(q.Story) == 0:
			return fmt.Errorf("%s: line %d: no statement stands before the question, so nothing can answer it", of, q.Line)
		}
	}
	return nil
}

// labelled returns texts with labels.
func (f ownFiles) labelled() (learnt, tried *text.Labelled, err error) {
	if learnt, err = text.LoadLabelled(f.Train); err != nil {
		return nil, nil, err
	}
	if tried, err = text.LoadLabelled(f.Test); err != nil {
		return nil, nil, err
	}
	if err := f.Enough(learnt.Len(), tried.Len()); err != nil {
		return nil, nil, err
	}
	if len(learnt.Classes) < 2 {
		return nil, nil, fmt.Errorf("--train %s: all lines have the label %q; there is nothing to tell apart: it takes two labels", f.Train, learnt.Classes[0])
	}
	alike(&learnt.Classes, learnt.Labels, &tried.Classes, tried.Labels)
	return learnt, tried, nil
}

// tagged returns sentences with tags.
func (f ownFiles) tagged() (learnt, tried *text.Tagged, err error) {
	if learnt, err = text.LoadTagged(f.Train); err != nil {
		return nil, nil, err
	}
	if tried, err = text.LoadTagged(f.Test); err != nil {
		return nil, nil, err
	}
	alike(&learnt.POSTags, learnt.POS.Tokens, &tried.POSTags, tried.POS.Tokens)
	alike(&learnt.ChunkTags, learnt.Chunks.Tokens, &tried.ChunkTags, tried.Chunks.Tokens)
	return learnt, tried, f.Enough(len(learnt.Sentences), len(tried.Sentences))
}

// alike gives two parts the names of both, in the order of their bytes, and numbers their labels by these.
func alike(a *[]string, ofA []int32, b *[]string, ofB []int32) {
	both := slices.Concat(*a, *b)
	slices.Sort(both)
	both = slices.Compact(both)
	number := func(names []string, labels []int32) {
		for i, y := range labels {
			k, _ := slices.BinarySearch(both, names[y])
			labels[i] = int32(k)
		}
	}
	number(*a, ofA)
	number(*b, ofB)
	*a, *b = both, both
}
