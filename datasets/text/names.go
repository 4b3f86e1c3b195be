package text

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// ReadNames returns surnames and their languages: of a folder or an archive with a file
// LANGUAGE.txt for each, a name a line. White space around a name is left out, and so
// are lines without one. Accents and repeats are as in the files:
//
//	names = names.Map(text.Fold).Unique()
//
// The published files have 20,050 names of 18 languages; so 17,993 are left, of 58
// characters.
func ReadNames(folder string) (*Labelled, error) {
	b, err := openBundle(folder, "")
	if err != nil {
		return nil, err
	}
	defer b.Close()
	l, languages := &Labelled{}, classNames{}
	for _, name := range b.names("*.txt", "names") {
		language := strings.TrimSuffix(unpack.Plain(path.Base(name)), ".txt")
		if strings.HasPrefix(strings.ToLower(language), "readme") {
			continue
		}
		d, err := b.document(name)
		if err != nil {
			return nil, err
		}
		lines, err := d.lines()
		if err != nil {
			return nil, err
		}
		l.Texts, l.Labels = slices.Grow(l.Texts, len(lines)), slices.Grow(l.Labels, len(lines))
		for i, line := range lines {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if err := d.keep(20, i); err != nil {
				return nil, err
			}
			l.Texts, l.Labels = append(l.Texts, line), append(l.Labels, languages.id(language))
		}
	}
	if l.Len() == 0 {
		return nil, fmt.Errorf("%s: there is no name in it: want a file LANGUAGE.txt for each language, a name a line", b.path)
	}
	l.Classes = languages.sorted(l.Labels)
	return l, nil
}
