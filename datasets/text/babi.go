package text

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// Question is a question about a story.
type Question struct {
	Story  []string // the statements before it
	Text   string
	Answer string  // a word, or several with commas between them
	Facts  []int32 // the statements that it follows from
	Line   int     // of its file, from 1 on
}

// LoadBAbI is [ReadBAbI] of the folder or the archive at path.
func LoadBAbI(path string, task int) (train, test []Question, err error) {
	b, err := openBundle(path, babiArchive)
	return b.babi(task, err)
}

// ReadBAbI returns the questions of a task of bAbI, 1 to 20, 1,000 and 1,000 in the
// published files: qaTASK_…_train.txt and qaTASK_…_test.txt, those in a folder called en
// if there are several.
func ReadBAbI(fsys fs.FS, task int) (train, test []Question, err error) {
	b, err := openFS(fsys, babiArchive)
	return b.babi(task, err)
}

const babiArchive = "babi_en.tar.gz"

func (b *bundle) babi(task int, err error) (train, test []Question, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var parts [2][]Question
	for k, part := range []string{"train", "test"} {
		d, lines, err := linesOf(b.read("en", fmt.Sprintf("qa%d_*_%s.txt", task, part)))
		if err != nil {
			return nil, nil, err
		}
		if parts[k], err = storiesOf(d, lines); err != nil {
			return nil, nil, err
		}
	}
	return parts[0], parts[1], nil
}

// LoadQuestions is [ReadQuestions] of the file at path.
func LoadQuestions(path string) ([]Question, error) { return questions(documentOf(openFile(path))) }

// ReadQuestions returns the questions of a text in the form of bAbI: a line a statement or a question, each with its
// number in its story and a blank before it, and tabs between a question, its answer and the numbers of the lines
// that it follows from.
func ReadQuestions(r io.Reader) ([]Question, error) { return questions(documentOf(openStream(r))) }

func questions(d *document, err error) ([]Question, error) {
	d, lines, err := linesOf(d, err)
	if err != nil {
		return nil, err
	}
	return storiesOf(d, lines)
}

// story is what has been told since the last line that is number 1.
type story struct {
	lines      int // its lines, questions too
	statements []string
	place      []int32 // of each line among the statements, −1 of a question
}

// reuse returns room for the places of another story.
func (s *story) reuse() []int32 {
	if s == nil {
		return nil
	}
	return s.place[:0]
}

// storiesOf returns the questions of a file.
func storiesOf(d *document, lines []string) ([]Question, error) {
	var all []Question
	var s *story
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		number, rest, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		switch {
		case err == nil && n == 1:
			s = &story{place: s.reuse()}
		case err != nil || s == nil || n != s.lines+1:
			return nil, d.wrong(i, "%.20q is not the number of the line in its story: number the lines of each story from 1", number)
		}
		s.lines = n
		if err := d.keep(100, i); err != nil {
			return nil, err
		}
		if !strings.Contains(rest, "\t") {
			s.place = append(s.place, int32(len(s.statements)))
			s.statements = append(s.statements, strings.TrimSpace(rest))
			continue
		}
		s.place = append(s.place, -1)
		q, err := s.question(rest)
		q.Line = i + 1
		if err != nil {
			return nil, d.wrong(i, "%w", err)
		}
		if err := d.keep(4*len(q.Facts), i); err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// question reads a question, its answer and its facts, with tabs between them.
func (s *story) question(line string) (q Question, err error) {
	f := strings.Split(line, "\t")
	if len(f) != 3 || strings.TrimSpace(f[1]) == "" {
		return q, fmt.Errorf("%.40q is no question: write the question, its answer and the numbers of the lines that it follows from, with tabs between them", line)
	}
	n := len(s.statements)
	q = Question{Story: s.statements[:n:n], Text: strings.TrimSpace(f[0]), Answer: strings.TrimSpace(f[1])}
	for _, word := range strings.Fields(f[2]) {
		line, err := strconv.Atoi(word)
		if err != nil || line < 1 || line > len(s.place) || s.place[line-1] < 0 {
			return q, fmt.Errorf("the fact %.20q is no line of a statement before the question", word)
		}
		q.Facts = append(q.Facts, s.place[line-1])
	}
	return q, nil
}
