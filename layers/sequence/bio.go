package sequence

import (
	"fmt"
	"strings"
)

// BIO returns the transitions that no tagging in the form B-X, I-X, O contains, for
// [CRF.Forbid]: I-X after anything but B-X or I-X, and at a chain's beginning. Tags are
// the names of the tags' numbers.
func BIO(tags []string) ([]Transition, error) {
	places, labels := make([]string, len(tags)), make([]string, len(tags))
	for i, tag := range tags {
		place, label, labelled := strings.Cut(tag, "-")
		if place != "B" && place != "I" && place != "O" || labelled == (place == "O") {
			return nil, fmt.Errorf("sequence: BIO: tag %d is %q; a tag is O, or B or I, a dash and a label", i, tag)
		}
		places[i], labels[i] = place, label
	}
	var out []Transition
	for to := range tags {
		if places[to] != "I" {
			continue
		}
		out = append(out, Transition{ChainEnd, int32(to)})
		for from := range tags {
			if places[from] == "O" || labels[from] != labels[to] {
				out = append(out, Transition{int32(from), int32(to)})
			}
		}
	}
	return out, nil
}
