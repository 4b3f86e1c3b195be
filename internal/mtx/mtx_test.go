package mtx

import (
	"fmt"
	"strings"
	"testing"
)

// dense returns a matrix as text, row by row.
func dense(m *Matrix) string {
	x := make([][]float64, m.Rows)
	for i := range x {
		x[i] = make([]float64, m.Cols)
	}
	for k := range m.Row {
		v := 1.0
		if m.Values != nil {
			v = m.Values[k]
		}
		x[m.Row[k]][m.Col[k]] += v
	}
	return fmt.Sprint(x)
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"coordinate real general\n% c\n2 3 2\n1 2 0.5\n2 3 -2e1\n":          "[[0 0.5 0] [0 0 -20]]",
		"coordinate integer symmetric\n\n3 3 3\n1 1 4\n3 1 5\n3 2 6":        "[[4 0 5] [0 0 6] [5 6 0]]",
		"coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n":                   "[[0 1 0] [1 0 0] [0 0 1]]",
		"coordinate real skew-symmetric\n2 2 1\n2 1 3\n":                    "[[0 -3] [3 0]]",
		"array real general\n2 3\n1\n2\n3\n4\n5\n6\n":                       "[[1 3 5] [2 4 6]]",
		"array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n":                     "[[1 2 3] [2 4 5] [3 5 6]]",
		"array integer skew-symmetric\n3 3\n1\n2\n3\n":                      "[[0 -1 -2] [1 0 -3] [2 3 0]]",
		"coordinate pattern general\n2 2 0\n":                               "[[0 0] [0 0]]",
		"array real general\n0 5\n":                                         "[]",
		"COORDINATE Double GENERAL\n1 1 1\n1 1 7\n":                         "[[7]]",
		"array real symmetric\n1 1\n8\n":                                    "[[8]]",
		"coordinate real general\n1 1 2\n1 1 1\n1 1 2\n%trailing comment\n": "[[3]]",
	} {
		for _, head := range []string{"%%MatrixMarket matrix ", "\ufeff%%MatrixMarket matrix "} {
			m, err := Read(strings.NewReader(head+text), nil)
			if err != nil {
				t.Errorf("%q: %v", head+text, err)
				continue
			}
			if got := dense(m); got != want {
				t.Errorf("%q: %s, want %s", head+text, got, want)
			}
		}
	}
}

func TestBadFiles(t *testing.T) {
	const head = "%%MatrixMarket matrix "
	for text, want := range map[string]string{
		"":        "line 1: the file is empty",
		"1 2 3\n": `line 1: "1 2 3" is no header: want %%MatrixMarket matrix FORMAT FIELD SYMMETRY`,
		"%%MatrixMarket vector coordinate real general":                 `line 1: it holds a "vector", want a matrix`,
		head + "sparse real general":                                    `line 1: the format is "sparse", want coordinate or array`,
		head + "array complex general":                                  `line 1: its elements are complex, which edgewise does not compute with: save their real part or their absolute value`,
		head + "array quaternion general":                               `line 1: its elements are "quaternion", want real, integer or pattern`,
		head + "coordinate real hermitian":                              `line 1: it is hermitian, which only a complex matrix can be: save it as symmetric`,
		head + "coordinate real odd":                                    `line 1: the symmetry is "odd", want general, symmetric or skew-symmetric`,
		head + "array pattern symmetric":                                `line 1: a pattern has no values, so it cannot be array pattern symmetric: save it as coordinate pattern, general or symmetric`,
		head + "coordinate real general":                                "line 1: the file ends before the sizes",
		head + "coordinate real general\n2 2":                           `line 2: the sizes are "2 2", want the numbers of rows, columns and elements, each below 2³¹`,
		head + "coordinate real general\n2 -2 1":                        `line 2: the sizes are "2 -2 1", want the numbers of rows, columns and elements, each below 2³¹`,
		head + "array real general\n2 99999999999":                      `line 2: the sizes are "2 99999999999", want the numbers of rows and columns, each below 2³¹`,
		head + "coordinate real symmetric\n2 3 1":                       "line 2: a symmetric matrix is square, not 2 × 3",
		head + "coordinate real general\n2 2 2\n1 1 1":                  "line 3: the file ends after 1 of 2 elements",
		head + "coordinate real general\n2 2 1\n1 1":                    `line 3: "1 1" is not an element: want a row, a column and a value`,
		head + "coordinate pattern general\n2 2 1\n1 1 1":               `line 3: "1 1 1" is not an element: want a row and a column`,
		head + "coordinate real general\n2 2 1\n0 1 1":                  `line 3: row "0": they are 1 to 2`,
		head + "coordinate real general\n2 2 1\n1 3 1":                  `line 3: column "3": they are 1 to 2`,
		head + "coordinate real general\n2 2 1\n1 1 nan":                `line 3: "nan" is not the value of an element: want a finite real number`,
		head + "coordinate integer general\n2 2 1\n1 1 1.5":             `line 3: "1.5" is not the value of an element: want a finite integer number`,
		head + "coordinate real symmetric\n2 2 1\n1 2 1":                "line 3: the element (1, 2) is above the diagonal: a symmetric file holds those below",
		head + "coordinate real skew-symmetric\n2 2 1\n1 1 1":           "line 3: the element (1, 1) is on the diagonal, which is zero in a skew-symmetric matrix",
		head + "array real general\n1 1\n1 2":                           `line 3: "1 2" is not an element: want one value`,
		head + "coordinate real general\n1 1 1\n1 1 1\n1 1 1":           `line 4: "1 1 1" follows the last of the 1 elements`,
		head + "array real general\n1 1\n" + strings.Repeat("1", 1<<17): "line 3: it is longer than 65536 bytes",
	} {
		if _, err := Read(strings.NewReader(text), nil); err == nil || err.Error() != want {
			t.Errorf("%.60q: error\n%v, want\n%s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"coordinate real general\n2 3 2\n1 2 0.5\n2 3 -2e1\n", "array integer skew-symmetric\n3 3\n1\n2\n3\n",
		"coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", "array real general\n2147483647 2147483647\n1\n"} {
		f.Add("%%MatrixMarket matrix " + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		if len(m.Row) != len(m.Col) || m.Values != nil && len(m.Values) != len(m.Row) {
			t.Fatalf("%d rows, %d columns, %d values", len(m.Row), len(m.Col), len(m.Values))
		}
		for k := range m.Row {
			if r, c := int(m.Row[k]), int(m.Col[k]); r < 0 || r >= m.Rows || c < 0 || c >= m.Cols {
				t.Fatalf("element (%d, %d) of %d × %d", r, c, m.Rows, m.Cols)
			}
		}
	})
}
