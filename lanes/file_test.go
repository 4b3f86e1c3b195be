package lanes

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/streamtest"
)

func TestReadWhatIsWritten(t *testing.T) {
	a := recorded(ms, []int{1, 2}, []int{3})
	b := &Record{Name: "<b> \"ü\"", Threads: 3, Took: 7, Loops: []Loop{{Name: "x", Start: 1, End: 6, Chunks: []Chunk{{1, 2, 2}, {3, 6, 0}, {2, 5, 2}}}}}
	a.Add(recorded(0, []int{1, 1, 1}), 16)
	file := streamtest.Writes(t, func(w io.Writer) error { return Write(w, a, b) })
	if got := streamtest.Reads(t, file, Read); !reflect.DeepEqual(got, []*Record{a, b}) {
		t.Errorf("got %+v\n%s", got, file)
	}
}

// oneLoop is a record in the form of a file.
const oneLoop = `{"edgewise":"record of loops","name":"n","threads":2,"took_ns":10,"loops":[{"name":"l","start_ns":2,"end_ns":8,"chunks":[[2,5,0],[3,7,1]]}]}` + "\n"

func TestReadHostile(t *testing.T) {
	if r, err := Read(strings.NewReader(oneLoop)); err != nil || len(r) != 1 {
		t.Fatalf("%d records, %v", len(r), err)
	}
	few := bounds{bytes: 2000, records: 3, loops: 4, chunks: 5}
	for _, tt := range []struct{ old, new, want string }{
		{oneLoop, "\n", "it has no record"},
		{"record of loops", "x", "line 1: it is no record of loops"},
		{`"threads":2`, `"threads":0`, "line 1: threads is 0, and must be 1 to 1024"},
		{`"threads":2`, `"threads":1025`, "threads is 1025"},
		{`"threads":2`, `"threads":1e99`, `"threads"`},
		{"10", "-1", "took_ns is -1"},
		{"10", "3600000000001", "took_ns is 3600000000001"},
		{"10", "7", "loop 0 is from 2 to 8: it must begin after the one before, at 0, and end before 7"},
		{`"start_ns":2`, `"start_ns":-2`, "loop 0 is from -2 to 8"},
		{`"end_ns":8`, `"end_ns":1`, "loop 0 is from 2 to 1"},
		{"[2,5,0]", "[1,5,0]", "loop 0: chunk 0 is from 1 to 5, and the loop from 2 to 8"},
		{"[2,5,0]", "[2,9,0]", "chunk 0 is from 2 to 9"},
		{"[2,5,0]", "[2,5,2]", "chunk 0 is of thread 2, and there are 2"},
		{"[2,5,0]", "[2,5,-1]", "chunk 0 is of thread -1"},
		{"[2,5,0]", "[2,5,1]", "thread 1 does two chunks at a time, from 2 and from 3"},
		{"[2,5,0]", `["2",5,0]`, "chunks"},
		{"}]}", "}]", "line 1: "},
		{"10", `10,"cut":-1`, "cut is -1"},
		{"10", `10,"others":[null]`, "other record 0 is none"},
		{"10", `10,"others":[{"edgewise":"record of loops","threads":1}]`, "other record 0 does not say how many threads"},
		{"10", `10,"others":[{"edgewise":"record of loops","cut":4,"threads":0}]`, "other record 0: threads is 0"},
		{"10", `10,"others":[{"cut":4,"others":[{}]}]`, "or has others itself"},
		{oneLoop, oneLoop + "x", "line 2: "},
		{`"loops":[`, `"loops":[` + strings.Repeat("{},", 4), "it has more than 4 loops"},
		{`[2,5,0]`, strings.Repeat("[],", 4) + `[2,5,0]`, "it has more than 5 chunks"},
		{`[2,5,0]`, strings.Repeat("[],", 10) + `[2,5,0]`, "it has more than 5 chunks"},
		{oneLoop, strings.Repeat(oneLoop, 4), "it has more than 3 records"},
		{oneLoop, strings.Repeat(" ", 2001), "it has more than 2000 bytes"},
	} {
		if r, err := few.read(strings.NewReader(strings.Replace(oneLoop, tt.old, tt.new, 1))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("with %.40q: %d records, %v, want %q", tt.new, len(r), err, tt.want)
		}
	}
}

// What can be read can be shown and written again, whatever it is.
func FuzzRead(f *testing.F) {
	f.Add([]byte(oneLoop))
	f.Add([]byte(oneLoop + oneLoop))
	f.Add([]byte(strings.Replace(oneLoop, "10", `10,"others":[{"edgewise":"record of loops","cut":4,"threads":1,"took_ns":3}]`, 1)))
	f.Add([]byte(strings.Replace(oneLoop, "10", "3600000000000", 1)))
	f.Add([]byte(strings.Replace(oneLoop, `"chunks":[[2,5,0],[3,7,1]]`, `"chunks":null`, 1)))
	f.Add([]byte(strings.Replace(oneLoop, `"name":"l"`, `"name":"\u001b[2J"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var file bytes.Buffer
		if err := Write(&file, all...); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&file)
		if err != nil || !reflect.DeepEqual(again, all) {
			t.Errorf("%v, got %+v, want %+v", err, again, all)
		}
		costs := Usual().Growing(16, 2)
		for _, r := range all {
			if err := r.WriteTable(io.Discard, 7, costs); err != nil {
				t.Error(err)
			}
			for _, n := range []int{1, 7, 64} {
				if s := r.On(n, Usual()); s.Busy < 0 || s.Busy > 1+1e-9 {
					t.Errorf("on %d threads busy is %g", n, s.Busy)
				}
			}
		}
		if len(all) <= 12 {
			Text(80, false, all, costs, 3)
			if err := Draw(io.Discard, "svg", all, costs, 3); err != nil && !strings.Contains(err.Error(), "points high") {
				t.Error(err)
			}
		}
	})
}
