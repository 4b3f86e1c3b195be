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
	var classes classNames
	parts := [2]*Labelled{{}, {}}
	for k, names := range [2][]string{{"train.txt", "train_5500.label"}, {"test.txt", "TREC_10.label"}} {
		if err := parts[k].questions(b, names, &classes); err != nil {
			return nil, nil, err
		}
	}
	train, test = parts[0], parts[1]
	train.Classes = classes.sorted(train.Labels, test.Labels)
	test.Classes = train.Classes
	return train, test, nil
}

// questions reads the questions of a file and their classes.
func (l *Labelled) questions(b *bundle, names []string, classes *classNames) error {
	d, err := b.read("", names...)
	if err != nil {
		return err
	}
	d.latin()
	lines, err := d.lines()
	if err != nil {
		return err
	}
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		class, question, _ := strings.Cut(line, " ")
		if question = strings.TrimSpace(question); question == "" || !strings.Contains(class, ":") {
			return d.wrong(i, "%.40q does not begin with a class and a question: write CLASS:kind, a blank and the question", line)
		}
		if err := d.keep(20, i); err != nil {
			return err
		}
		l.Texts, l.Labels = append(l.Texts, question), append(l.Labels, classes.id(class))
	}
	return nil
}
