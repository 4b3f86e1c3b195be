package writing

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
)

// ownTranslator returns a user's texts that are learnt and tried, and what numbers their words. It has no network yet.
func ownTranslator(s *stage.Stage, own stage.Files) (r *translator, learnt, tried *text.Parallel, err error) {
	r = &translator{source: new(text.Words), target: new(text.Words), of: [3]string{"texts", "source", "target"}}
	if learnt, err = r.pairs(s, own.Train); err != nil {
		return nil, nil, nil, err
	}
	if tried, err = r.pairs(s, own.Test); err != nil {
		return nil, nil, nil, err
	}
	if err := own.Enough(len(learnt.Source), len(tried.Source)); err != nil {
		return nil, nil, nil, err
	}
	if r.source, err = text.NewWords(learnt.Source, 1, false); err == nil {
		r.target, err = text.NewWords(learnt.Target, 1, false)
	}
	return r, learnt, tried, err
}

// pairs returns the texts of a file, on each line one, a tab and what it becomes, with blanks between their words.
func (r *translator) pairs(s *stage.Stage, path string) (*text.Parallel, error) {
	lines, err := text.LoadLines(path)
	if err != nil {
		return nil, err
	}
	out := new(text.Parallel)
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 2 {
			return nil, fmt.Errorf("%s: line %d: %.40q has %d tabs: write a text, one tab and what it becomes", path, i+1, line, len(f)-1)
		}
		a, b := r.source.Split(f[0]), r.target.Split(f[1])
		if len(a) == 0 || len(b) == 0 {
			return nil, fmt.Errorf("%s: line %d: %.40q has no words on one side of its tab", path, i+1, line)
		}
		if n := max(len(a), len(b)); n > mostWords {
			return nil, fmt.Errorf("%s: line %d: it has %d words on one side of its tab; %d is the most", path, i+1, n, mostWords)
		}
		if len(out.Source) < s.Count(len(lines)) {
			out.Source, out.Target = append(out.Source, strings.Join(a, " ")), append(out.Target, strings.Join(b, " "))
			r.longest = max(r.longest, len(a), len(b))
		}
	}
	return out, nil
}

// mostWords is how many words a text has at most: each step of a translation looks at all of them.
const mostWords = 500
