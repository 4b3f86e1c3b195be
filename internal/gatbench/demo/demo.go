package demo

// Demo is a model at work.
type Demo struct {
	Name  string
	About string // a line
	Data  string // the dataset of package text that it reads; empty: it needs none
	Run   func(s *Stage) error

	Cells   []string // the networks that it can have, its own first; nil: it has one
	Targets []string // what it can learn to say, its own first; nil: one thing

	// Seconds is about what a seed takes with the demo's own settings, on one core of a server of 2024.
	Seconds float64
	// Lower and Aside name those numbers of its result, or what they are within, of which the lower
	// one is better, and of which none is: of networks that are there to fail.
	Lower, Aside []string
}

// All returns the demos, in the order in which they are best read.
func All() []Demo {
	return []Demo{names, questions, tagging, sentiment, recall, adding, sine, chaos, language, antonyms, dates, multi30k,
		beer, captions, luong, stretch,
		sorting, hull, salesman,
		hopfield, modern,
		babi, fastWeights, copying, repeating, associating, reversing,
		attpool, han, selfatt, lookup,
		reverse}
}

// Find returns the demo of that name.
func Find(name string) (Demo, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return Demo{}, false
}

// Names returns what Find knows.
func Names() []string {
	var out []string
	for _, d := range All() {
		out = append(out, d.Name)
	}
	return out
}
