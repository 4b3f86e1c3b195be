package demo

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/memories"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/pointing"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/reading"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/series"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/writing"
)

// family is a group of demos.
type family struct {
	title string
	demos []stage.Demo
}

// families are all demos, in the order in which they are best read.
var families = []family{
	{"Reading texts", []stage.Demo{
		reading.Names,
		reading.Questions,
		reading.AttPool,
		reading.SelfAtt,
		reading.Tagging,
		reading.Sentiment,
		reading.HAN,
		reading.BAbI,
		reading.Reading,
	}},
	{"Series of numbers and symbols", []stage.Demo{
		series.Recall,
		series.Adding,
		series.Sine,
		series.Chaos,
		series.Flow,
	}},
	{"Writing and translating", []stage.Demo{
		writing.Language,
		writing.Antonyms,
		writing.Dates,
		writing.Multi30k,
		writing.Beer,
		writing.Translate,
		writing.Luong,
		writing.Stretch,
		writing.Reverse,
		writing.Caption,
	}},
	{"Pointing at what was read", []stage.Demo{
		pointing.Sort,
		pointing.Hull,
		pointing.Salesman,
	}},
	{"Memories", []stage.Demo{
		memories.Hopfield,
		memories.Modern,
		memories.Boltzmann,
		memories.Lookup,
		memories.FastWeights,
		memories.Copy,
		memories.RepeatCopy,
		memories.AssociativeRecall,
		memories.Stack,
	}},
}

// All returns the demos, in the order in which they are best read.
func All() []stage.Demo {
	var out []stage.Demo
	for _, f := range families {
		out = append(out, f.demos...)
	}
	return out
}

// Find returns the demo of that name.
func Find(name string) (stage.Demo, bool) {
	all := All()
	at := slices.IndexFunc(all, func(d stage.Demo) bool { return d.Name == name })
	if at < 0 {
		return stage.Demo{}, false
	}
	return all[at], true
}
