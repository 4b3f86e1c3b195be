package parquet

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// files are those that another program wrote: see testdata/README.md.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.parquet"))
	if dir := os.Getenv("PQDIR"); dir != "" {
		names, err = filepath.Glob(filepath.Join(dir, "*.parquet"))
	}
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		if out[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func tableOf(b []byte) (*form.Table, error) {
	return readTable(bytes.NewReader(b), int64(len(b)), "x.parquet", func(name string) bool { return name == "i64" })
}

// cell is what a cell holds: nil, a number, a text or a list of numbers.
func cell(c *form.Column, row int) any {
	switch c.Type {
	case form.Number:
		if v := c.Numbers[row]; v == v {
			return v
		}
	case form.Time:
		if v := c.Times[row]; v != form.NoTime {
			return v
		}
	case form.Word:
		if s := c.Words.At(row); s != "" {
			return s
		}
	case form.Many:
		var out []any
		null := true
		for _, v := range c.Matrix.Values[row*c.Matrix.Cols:][:c.Matrix.Cols] {
			if v != v {
				out = append(out, nil)
				continue
			}
			out, null = append(out, float64(v)), false
		}
		if !null {
			return out
		}
	}
	return nil
}

// Every encoding, compression and version that the reference writes is read as what it wrote.
func TestRead(t *testing.T) {
	dir := "testdata"
	if d := os.Getenv("PQDIR"); d != "" {
		dir = d
	}
	b, err := os.ReadFile(filepath.Join(dir, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	for name, b := range files(t) {
		table, err := tableOf(b)
		if strings.Contains(name, "brotli") {
			if err == nil || !strings.Contains(err.Error(), "compressed by Brotli, which is not read: write it with zstd") {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(table.Columns) != len(want) {
			t.Errorf("%s: %d columns, want %d", name, len(table.Columns), len(want))
		}
		for i := range table.Columns {
			c := &table.Columns[i]
			for row, w := range want[c.Name] {
				if got := cell(c, row); shown(got) != wanted(c, w) {
					t.Errorf("%s: column %s, row %d: %v, want %v", name, c.Name, row, shown(got), wanted(c, w))
					break
				}
			}
		}
	}
}

func shown(v any) string { return fmt.Sprint(v) }

func wanted(c *form.Column, w any) string {
	switch w := w.(type) {
	case json.Number:
		if c.Type == form.Time && !strings.ContainsAny(string(w), ".e") {
			return string(w)
		}
		f, _ := w.Float64()
		if c.Type == form.Time {
			return fmt.Sprint(int64(f))
		}
		return fmt.Sprint(f)
	case string:
		if w == "" {
			return "<nil>"
		}
	case []any:
		var out []any
		for _, v := range w {
			if n, ok := v.(json.Number); ok {
				f, _ := n.Float64()
				v = float64(tensor.Float(f))
			}
			out = append(out, v)
		}
		return fmt.Sprint(out)
	}
	return fmt.Sprint(w)
}

// What is written is read again, and pyarrow reads it (testdata/README.md).
func written40() *form.Table {
	t := &form.Table{Rows: 40, IDs: &form.Words{}}
	numbers, truth, times, words := form.Column{Name: "score", Type: form.Number}, form.Column{Name: "yes", Type: form.Number, Truth: true}, form.Column{Name: "when", Type: form.Time, Dated: true}, form.Column{Name: "class", Type: form.Word, Words: &form.Words{Texts: []string{"a", "ß"}}}
	m := form.Column{Name: "x", Type: form.Many, Matrix: &form.Matrix{Rows: 40, Cols: 2}}
	for i := range t.Rows {
		t.IDs.Texts = append(t.IDs.Texts, fmt.Sprint("n", i))
		v, b, at, code := float64(i)/7, float64(i%3/2), int64(i)*1e12, int32(i%2)
		if i%5 == 3 {
			v, b, at, code = math.NaN(), math.NaN(), form.NoTime, -1
		}
		numbers.Numbers, truth.Numbers, times.Times, words.Words.Codes = append(numbers.Numbers, v), append(truth.Numbers, b), append(times.Times, at), append(words.Words.Codes, code)
		m.Matrix.Values = append(m.Matrix.Values, tensor.Float(i), tensor.Float(-i)/2)
	}
	t.Columns = []form.Column{numbers, truth, times, words, m}
	return t
}

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	in := written40()
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	out, err := tableOf(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(out.Columns); got != 7 {
		t.Fatalf("%d columns, want 7", got)
	}
	for row := range in.Rows {
		for i := range 4 {
			if got, want := cell(&out.Columns[i+1], row), cell(&in.Columns[i], row); got != want || out.Columns[i+1].Name != in.Columns[i].Name || out.Columns[i+1].Truth != in.Columns[i].Truth {
				t.Errorf("column %s, row %d: %v, want %v", in.Columns[i].Name, row, got, want)
			}
		}
		e0, e1 := cell(out.Column("e0"), row), cell(out.Column("e1"), row)
		if e0 != float64(row) || e1 != float64(-row)/2 || cell(out.Column("id"), row) != in.IDs.At(row) {
			t.Errorf("row %d: %v, %v, want %d and its half", row, e0, e1, row)
		}
	}
	in.Columns = append(in.Columns, form.Column{Name: "id", Type: form.Empty})
	if err := Write(&b, in); err == nil || !strings.Contains(err.Error(), `two columns are called "id": rename`) {
		t.Errorf("error %v", err)
	}
}

// A file that was cut short, or of which a byte was changed, is an error or another table, and never a panic, nor
// does it take memory that it is not worth. Where there are checksums a changed byte of a page is an error.
func TestDamaged(t *testing.T) {
	for name, b := range files(t) {
		if name != "v2.parquet" && name != "c_snappy.parquet" {
			continue
		}
		for n := 0; n < len(b); n += 1 + n/20 {
			if _, err := tableOf(b[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are no error", name, n, len(b))
			}
		}
	}
	b := files(t)["plain.parquet"]
	f, err := readFooter(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	last := f.groups[0].chunks[0].compressed
	whole, err := tableOf(b)
	if err != nil {
		t.Fatal(err)
	}
	showPanics = true
	defer func() { showPanics = false }()
	for i := 4; i < int(last); i += 3 {
		damaged := bytes.Clone(b)
		damaged[i] ^= 1 << (i % 8)
		table, err := tableOf(damaged)
		for row := 0; err == nil && row < whole.Rows; row++ {
			if cell(&table.Columns[0], row) != cell(&whole.Columns[0], row) {
				t.Errorf("byte %d is another, row %d too, and there is no error", i, row)
				break
			}
		}
	}
	for i := len(b) / 2; i < len(b); i += 41 { // the footer too
		damaged := bytes.Clone(b)
		damaged[i] ^= 0x40
		tableOf(damaged)
	}
}

func FuzzRead(f *testing.F) {
	for name, b := range files(f) {
		if len(b) < 14000 && name != "c_brotli.parquet" {
			f.Add(b)
		}
	}
	var small bytes.Buffer
	if err := Write(&small, &form.Table{Rows: 3, Columns: []form.Column{{Name: "a", Type: form.Number, Numbers: []float64{1, 2, math.NaN()}}, {Name: "b", Type: form.Word, Words: &form.Words{Texts: []string{"x", "", "y"}}}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		showPanics = true
		tableOf(b)
	})
}

// A table may have no rows: pyarrow writes a row group for it whose columns have no place.
func TestNoRows(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "empty", "edges.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if table, err := tableOf(b); err != nil || table.Rows != 0 || len(table.Columns) != 2 {
		t.Errorf("%+v, error %v", table, err)
	}
}

// What is neither numbers, times nor texts is refused, and named.
func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"struct":  `column "x" is a struct: write what it holds as columns of their own, or leave it out`,
		"struct1": `column "x" is a struct: write what it holds as columns of their own, or leave it out`,
		"map":     `column "x" is a map: write what it holds as columns of their own, or leave it out`,
		"texts":   `column "x" is a list of text in BYTE_ARRAY, which is neither numbers, times nor texts: write it as one of these, or leave it out`,
		"lists":   `column "x" is a list of lists: write it as lists of numbers of one length, or leave it out`,
		"ragged":  `column "x": row 3: the list has 1 numbers, and those before have 2: write lists of one length, or leave the column out`,
		"latin":   `column "x": "M\xfcller" is not text in UTF-8: write text or numbers, or leave the column out`,
		"time":    `column "x" is time of day or interval in INT64, which is neither numbers, times nor texts: write it as one of these, or leave it out`,
	} {
		b, err := os.ReadFile(filepath.Join("testdata", "refused", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tableOf(b); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// hostile is a file of one column of so many rows, in a page whose header says what is given and whose bytes are body.
func hostile(rows int64, physical, encoding, plain int, body []byte) []byte {
	return hostileFile(rows, rows, optional, physical, encoding, plain, body)
}

// hostileFile is hostile of a column that has other than a value a row.
func hostileFile(rows, values int64, repetition, physical, encoding, plain int, body []byte) []byte {
	h := thriftWriter{}
	h.open()
	h.small(1, dataPage)
	h.small(2, int64(plain))
	h.small(3, int64(len(body)))
	h.field(5, isStruct)
	h.open()
	h.small(1, values)
	h.small(2, int64(encoding))
	h.small(3, encRLE)
	h.close()
	h.close()
	b := append(append([]byte(magic), h.b...), body...)
	m := thriftWriter{}
	m.open()
	m.list(2, 2, isStruct)
	m.open()
	m.small(5, 1)
	m.close()
	m.open()
	m.small(1, int64(physical))
	m.small(3, int64(repetition))
	m.field(4, isBinary)
	m.text("x")
	m.close()
	m.int(3, rows)
	m.list(4, 1, isStruct)
	m.open()
	m.list(1, 1, isStruct)
	m.open()
	m.field(3, isStruct)
	m.open()
	m.small(1, int64(physical))
	m.int(5, values)
	m.int(7, int64(len(b)-4))
	m.int(9, 4)
	m.close()
	m.close()
	m.int(3, rows)
	m.close()
	m.close()
	b = append(b, m.b...)
	return append(append(b, byte(len(m.b)), byte(len(m.b)>>8), 0, 0), magic...)
}

// A small file that says of itself that it is huge is refused before memory is taken for it.
func TestHostile(t *testing.T) {
	ones := func(n uint64) []byte { // levels of n cells that are full
		run := binary.AppendUvarint(nil, n<<1)
		run = append(run, 1)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	}
	delta := func(n uint64) []byte {
		return append(binary.AppendUvarint([]byte{0x80, 0x01, 0x04}, n), 0, 0, 0, 0, 0, 0)
	}
	list := func(n uint64) []byte { // a row of n elements, all true
		run := append(binary.AppendUvarint([]byte{2, 0}, (n-1)<<1), 1)
		levels := append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
		return append(append(levels, ones(n)...), ones(n)...)
	}
	alike := append(ones(3), delta(3)...)
	for name, tt := range map[string]struct {
		b    []byte
		want string
	}{
		"a good one":           {hostile(3, physDouble, encPlain, 30, append(ones(3), make([]byte, 24)...)), ""},
		"2³⁰ rows":             {hostile(1<<29, physDouble, encPlain, 7, ones(1<<29)), errHuge.Error()},
		"texts of 2²⁹ rows":    {hostile(1<<29, physBytes, encPlain, 7, ones(1<<29)), errHuge.Error()},
		"a long run":           {hostile(3, physDouble, encPlain, 35, append(ones(1<<40), make([]byte, 24)...)), ""},
		"a huge page":          {hostile(3, physDouble, encPlain, 1<<30, ones(3)), errHuge.Error()},
		"few values":           {hostile(3, physDouble, encPlain, 14, append(ones(3), make([]byte, 8)...)), errShort.Error()},
		"a long text":          {hostile(1, physBytes, encPlain, 10, append(ones(1), 0xff, 0xff, 0xff, 0x7f)), errShort.Error()},
		"differences":          {hostile(3, physInt64, encDelta, len(alike), alike), ""},
		"2⁴⁰ differences":      {hostile(3, physInt64, encDelta, 20, append(ones(3), delta(1<<40)...)), "column \"x\""},
		"no dictionary":        {hostile(3, physDouble, encDictionary, 9, append(ones(3), 1, 6, 0)), "needs a dictionary"},
		"a list":               {hostileFile(1, 3, repeated, physBool, encRLE, len(list(3)), list(3)), ""},
		"a list of 2²⁴":        {hostileFile(1, 1<<24, repeated, physBool, encRLE, len(list(1<<24)), list(1<<24)), errHuge.Error()},
		"more values than row": {hostileFile(3, 1<<24, optional, physDouble, encPlain, 7, ones(1<<24)), "a page has more values than its column"},
		"an unknown encoding":  {hostile(3, physDouble, 77, 6, ones(3)), "encoding 77 of Parquet, which is not read for DOUBLE"},
		"an unknown type":      {hostile(3, 99, encPlain, 6, ones(3)), errThrift.Error()},
		"a negative row count": {hostile(-3, physDouble, encPlain, 6, ones(3)), "-3 rows"},
		"nothing":              {nil, "too short for Parquet: was it cut off?"},
		"text":                 {[]byte("id,age\n1,2\n3,4\n"), `it begins with "id,a", and Parquet with "PAR1": it is another kind of file`},
		"an open end":          {[]byte(magic + "123456789"), "it was cut off, or not closed by what wrote it; get it again"},
		"a long footer":        {[]byte(magic + "1234\xff\xff\xff\x7f" + magic), "its footer is to have 2147483647 bytes"},
		"an encrypted one":     {[]byte("PARE12345678PARE"), "it is encrypted: write it without"},
		"a list of 2³¹":        {append([]byte(magic+"\x29\xfc\xff\xff\xff\xff\x07"), 7, 0, 0, 0, 'P', 'A', 'R', '1'), errThrift.Error()},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := tableOf(tt.b)
		runtime.ReadMemStats(&after)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes of memory for a file of %d", name, n, len(tt.b))
		}
	}
}

// A family of files is one graph.
func TestForm(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, table *form.Table) {
		t.Helper()
		var b bytes.Buffer
		if err := Write(&b, table); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := func(s ...string) *form.Words { return &form.Words{Texts: s} }
	put("shop_nodes.parquet", &form.Table{Rows: 3, IDs: texts("b", "a", "c"), Columns: []form.Column{{Name: "age", Type: form.Number, Numbers: []float64{1, 2, math.NaN()}}}})
	put("shop_edges.parquet", &form.Table{Rows: 2, Columns: []form.Column{{Name: "source", Type: form.Word, Words: texts("a", "c")}, {Name: "target", Type: form.Word, Words: texts("b", "d")}}})
	f, _, err := form.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	main, err := Form.Opens(f.Names())
	if err != nil || main != "shop_edges.parquet" || len(Form.Belongs(f.Names(), main)) != 2 {
		t.Fatalf("it opens %q, error %v", main, err)
	}
	raw, err := Form.Read(f, main, form.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, e := raw.Nodes[0], raw.Edges[0]
	if n.Rows != 4 || n.Listed != 3 || n.IDs.At(3) != "d" || n.Column("age").Numbers[1] != 2 || fmt.Sprint(e.Source, e.Target) != "[1 2] [0 3]" || !strings.HasSuffix(raw.Unlisted.Error(), `shop_edges.parquet: row 2: node "d" is not in `+filepath.Join(dir, "shop_nodes.parquet")+`: add it there, or leave its edges out`) {
		t.Errorf("%+v\n%+v\n%v", n, e, raw.Unlisted)
	}
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	if err := errors.Join(z.AddFS(os.DirFS(dir)), z.Close(), os.WriteFile(filepath.Join(dir, "all.zip"), zipped.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	with := form.Options{Others: []form.Form{Form}}
	for _, name := range []string{"shop_edges.parquet", "shop_nodes.parquet", "all.zip", "."} {
		if name == "." {
			os.Remove(filepath.Join(dir, "all.zip"))
		}
		r, err := form.Load(filepath.Join(dir, name), with)
		if err != nil || fmt.Sprint(r.Edges[0].Source, r.Edges[0].Target, r.Nodes[0].Rows) != "[1 2] [0 3] 4" || r.Name != "shop" || r.Size == 0 || r.Check() != nil {
			t.Errorf("%s: %+v, error %v", name, r, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "shop_edges.csv"), []byte("source,target\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := form.Load(dir, with); err == nil || !strings.HasSuffix(err.Error(), ": there are several datasets in it: name one of shop_edges.parquet, shop_edges.csv") {
		t.Errorf("of CSV too: error %v", err)
	}
	put("customers.parquet", &form.Table{Rows: 2, IDs: texts("x", "y"), Columns: []form.Column{{Name: "age", Type: form.Number, Numbers: []float64{1, 2}}}})
	if raw, err := form.Load(filepath.Join(dir, "customers.parquet"), form.Options{Others: []form.Form{Form}}); err != nil || len(raw.Nodes) != 1 || raw.Nodes[0].Rows != 2 || len(raw.Edges) > 0 && raw.Edges[0].Rows > 0 {
		t.Errorf("a table of another name: %+v, error %v", raw, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shop_nodes.parquet"), []byte("PAR1 and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Form.Read(f, main, form.Options{}); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, "shop_nodes.parquet")+": it ends with") {
		t.Errorf("error %v", err)
	}
}
