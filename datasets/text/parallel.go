package text

import "fmt"

// ReadParallel returns two texts of which each line of the second is what becomes of the
// same line of the first: sentences and their translations. It is an error if one has
// more lines than the other.
func ReadParallel(source, target string) (*Parallel, error) {
	p, err := &Parallel{}, error(nil)
	if p.Source, err = ReadLines(source); err == nil {
		p.Target, err = ReadLines(target)
	}
	if err == nil {
		err = p.check(source, target)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// check returns an error unless both texts have as many lines.
func (p *Parallel) check(source, target string) error {
	s, t := len(p.Source), len(p.Target)
	if s == t {
		return nil
	}
	return fmt.Errorf("%s has %d lines and %s %d: line %d has no partner: give every line of one a line of the other, an empty one if need be", source, s, target, t, min(s, t)+1)
}

// ReadMulti30k returns the captions of Multi30k in German and in English, 29,000, 1,014
// and 1,000, from the folder or the archive of train.de, train.en, val.de and so on; of
// tests it takes that of 2016.
func ReadMulti30k(path string) (train, val, test *Parallel, err error) {
	b, err := openBundle(path, "")
	if err != nil {
		return nil, nil, nil, err
	}
	defer b.Close()
	var parts [3]*Parallel
	for k, names := range [3][]string{{"train"}, {"val"}, {"test_2016_flickr", "test2016", "test"}} {
		p := &Parallel{}
		var paths [2]string
		for side, lines := range []*[]string{&p.Source, &p.Target} {
			var files []string
			for _, name := range names {
				files = append(files, name+[2]string{".de", ".en"}[side])
			}
			d, all, err := b.lines(files...)
			if err != nil {
				return nil, nil, nil, err
			}
			*lines, paths[side] = all, d.path
		}
		if err := p.check(paths[0], paths[1]); err != nil {
			return nil, nil, nil, err
		}
		parts[k] = p
	}
	return parts[0], parts[1], parts[2], nil
}
