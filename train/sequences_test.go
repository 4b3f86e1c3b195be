package train_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestChunksGolden(t *testing.T) {
	var cases []struct {
		Want, Got [][]string
		Counts    [4]int     // tokens, chunks, found, right
		Shares    [4]float64 // accuracy, precision, recall, F1
		Labels    map[string][4]float64
	}
	read(t, "chunks.json", &cases)
	near := func(share, percent float64) bool { return math.Abs(100*share-percent) <= 0.00501 }
	for i, c := range cases {
		got, err := train.CountChunks(c.Want, c.Got)
		if err != nil {
			t.Fatal(err)
		}
		accuracy := train.TokenAccuracy(c.Want, c.Got)
		a := got.All
		if a.TruePos+a.FalseNeg != c.Counts[1] || a.TruePos+a.FalsePos != c.Counts[2] || a.TruePos != c.Counts[3] || a.TrueNeg != 0 {
			t.Errorf("case %d: got %+v, conlleval counts %v", i, a, c.Counts)
		}
		if !near(accuracy, c.Shares[0]) || !near(a.Precision(), c.Shares[1]) || !near(a.Recall(), c.Shares[2]) || !near(a.F1(), c.Shares[3]) {
			t.Errorf("case %d: got %v, %v, %v, %v, conlleval says %v", i, accuracy, a.Precision(), a.Recall(), a.F1(), c.Shares)
		}
		if len(got.Labels) != len(c.Labels) {
			t.Errorf("case %d: got %v, want %v", i, got.Labels, c.Labels)
		}
		for label, want := range c.Labels {
			l := got.Labels[label]
			if !near(l.Precision(), want[0]) || !near(l.Recall(), want[1]) || !near(l.F1(), want[2]) || l.TruePos+l.FalsePos != int(want[3]) {
				t.Errorf("case %d, %s: got %+v, conlleval says %v", i, label, l, want)
			}
		}
	}
	if len(cases) < 15 {
		t.Errorf("only %d cases", len(cases))
	}
}

func TestChunks(t *testing.T) {
	span := func(start, end int, label string) train.Span { return train.Span{Start: start, End: end, Label: label} }
	tests := []struct {
		tags string
		want []train.Span
	}{
		{"", nil},
		{"O O", nil},
		{"B-N I-N O I-V", []train.Span{span(0, 2, "N"), span(3, 4, "V")}},       // I after O begins
		{"I-N I-V I-V", []train.Span{span(0, 1, "N"), span(1, 3, "V")}},         // and after another label
		{"I-N B-N I-N", []train.Span{span(0, 1, "N"), span(1, 3, "N")}},         // IOB1
		{"B-N E-N B-N I-N E-N", []train.Span{span(0, 2, "N"), span(2, 5, "N")}}, // IOBES
		{"S-N S-N I-N E-N", []train.Span{span(0, 1, "N"), span(1, 2, "N"), span(2, 4, "N")}},
		{"B-N-P I-N-P", []train.Span{span(0, 2, "N-P")}},
	}
	for _, tt := range tests {
		if got, err := train.Chunks(strings.Fields(tt.tags)); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, %v, want %v", tt.tags, got, err, tt.want)
		}
	}
}

func TestCountSpans(t *testing.T) {
	a, b := train.Span{Start: 0, End: 3, Label: "x"}, train.Span{Start: 1, End: 2, Label: "y"} // they overlap
	got := train.CountSpans([][]train.Span{{a, b, b}, {a}, nil}, [][]train.Span{{b, a, a}, {{Start: 0, End: 3, Label: "y"}}, {b}})
	want := map[string]train.Counts{"x": {TruePos: 1, FalsePos: 1, FalseNeg: 1}, "y": {TruePos: 1, FalsePos: 2, FalseNeg: 1}}
	if got.All != (train.Counts{TruePos: 2, FalsePos: 3, FalseNeg: 2}) || got.Labels["x"] != want["x"] || got.Labels["y"] != want["y"] {
		t.Errorf("got %+v, want %v", got, want)
	}
}

func TestPairsRefused(t *testing.T) {
	chunks := func(want, got [][]string) (err error) {
		if wrong := tensor.Try(func() { _, err = train.CountChunks(want, got) }); wrong != nil {
			return wrong
		}
		return err
	}
	tokens := func(want, got [][]string) error { return tensor.Try(func() { train.TokenAccuracy(want, got) }) }
	exact := func(want, got [][]string) error { return tensor.Try(func() { train.ExactMatch(want, got) }) }
	spans := func(want, got [][]string) error {
		return tensor.Try(func() { train.CountSpans(make([][]train.Span, len(want)), make([][]train.Span, len(got))) })
	}
	o := []string{"O"}
	tests := []struct {
		f         func(want, got [][]string) error
		want, got [][]string
		text      string
	}{
		{chunks, [][]string{o}, nil, "train.CountChunks: cannot take shape [1] with [0]: true sequences and predicted ones come in pairs"},
		{tokens, nil, [][]string{o}, "train.TokenAccuracy: cannot take shape [0] with [1]"},
		{exact, nil, [][]string{o}, "train.ExactMatch: cannot take shape [0] with [1]"},
		{spans, nil, [][]string{o}, "train.CountSpans: cannot take shape [0] with [1]"},
		{chunks, [][]string{o, o}, [][]string{o, nil}, "[1] with [0]: the sequences of pair 1 are not of one length"},
		{tokens, [][]string{o}, [][]string{{"O", "O"}}, "[1] with [2]: the sequences of pair 0 are not of one length"},
		{chunks, [][]string{{"O", "NP"}}, [][]string{{"O", "O"}}, `sentence 0: tag 1 is "NP"`},
		{chunks, [][]string{o, {"O", "O"}}, [][]string{o, {"O", "O-NP"}}, `sentence 1, predicted: tag 1 is "O-NP"`},
		{chunks, [][]string{{""}}, [][]string{o}, `tag 0 is ""`},
		{chunks, [][]string{{"B-"}}, [][]string{o}, `tag 0 is "B-"`},
	}
	for i, tt := range tests {
		if err := tt.f(tt.want, tt.got); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("case %d: got %v, want %q", i, err, tt.text)
		}
	}
}

func TestMatches(t *testing.T) {
	want, got := [][]int32{{1, 2}, {3}, {}, {4, 5, 6}}, [][]int32{{1, 2}, {4}, {}, {4, 5, 7}}
	if v := train.ExactMatch(want, got); v != 0.5 {
		t.Errorf("exact match %v, want 1/2", v)
	}
	if v := train.TokenAccuracy(want, got); v != 4.0/6 {
		t.Errorf("accuracy %v, want 4/6", v)
	}
	if v := train.ExactMatch([][]int32{{1}}, [][]int32{{1, 2}}); v != 0 {
		t.Errorf("a longer answer matches: %v", v)
	}
	if v := train.TokenAccuracy[int32](nil, nil); v != 0 {
		t.Errorf("of nothing: %v", v)
	}
}
