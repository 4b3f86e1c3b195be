package text

import (
	"strings"
)

// ReadTREC returns the questions of TREC, 5,452 and 500, with their 50 fine classes, such
// as DESC:manner; [Labelled.Coarse] leaves the 6 coarse ones. It reads the folder or the
// archive of train.txt and test.txt, or of train_5500.label and TREC_10.label. Words are
// as in the files, with a blank between any two.
//
// The published file has one byte that is no UTF-8. Such bytes are read as ISO 8859-1.
func ReadTREC(path string) (train, test *Labelled, err error) {
	b, err := openBundle(path, "qc.zip")
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var classes [2][]string
	parts := [2]*Labelled{{}, {}}
	for k, names := range [2][]string{{"train.txt", "train_5500.label"}, {"test.txt", "TREC_10.label"}} {
		if parts[k].Texts, classes[k], err = questionsOf(b, names); err != nil {
			return nil, nil, err
		}
	}
	all := sortedNames(classes[0], classes[1])
	for k, p := range parts {
		p.Classes, p.Labels = all, numbersOf(classes[k], all)
	}
	return parts[0], parts[1], nil
}

// questionsOf returns the questions of a file and their classes.
func questionsOf(b *bundle, names []string) (texts, classes []string, err error) {
	d, err := b.read("", names...)
	if err != nil {
		return nil, nil, err
	}
	d.latin()
	lines, err := d.lines()
	if err != nil {
		return nil, nil, err
	}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		class, question, _ := strings.Cut(line, " ")
		if question = strings.TrimSpace(question); question == "" || !strings.Contains(class, ":") {
			return nil, nil, d.wrong(i, "%.40q does not begin with a class and a question: write CLASS:kind, a blank and the question", line)
		}
		if err := d.keep(40, i); err != nil {
			return nil, nil, err
		}
		texts, classes = append(texts, question), append(classes, class)
	}
	return texts, classes, nil
}
