package lanes

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
	"testing"
)

// wantTable is found by hand.
const wantTable = `made, recorded on 1 thread: 17.0 ms, threads busy 100 %, 2 loops

threads  predicted  growth   busy
      1    17.0 ms     1.0  100 %
      2    13.0 ms     1.3   65 %
      4    11.0 ms     1.5   39 %
      8    10.0 ms     1.7   21 %
     16    10.0 ms     1.7   11 %
     32    10.0 ms     1.7    5 %

what loses most on 8 threads, predicted; lost: time of all threads without work

   lost  of all  why            took     work  times  chunks  loop
42.0 ms  52.5 %  few chunks  6.00 ms  6.00 ms      1       1  b
7.00 ms   8.8 %  serial      1.00 ms  1.00 ms      1          before a
7.00 ms   8.8 %  serial      1.00 ms  1.00 ms      1          before b
7.00 ms   8.8 %  serial      1.00 ms  1.00 ms      1          before the end
`

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := recorded(ms, []int{1, 1, 1, 1, 1, 1, 1, 1}, []int{6}).WriteTable(&b, 8, free); err != nil {
		t.Fatal(err)
	}
	if b.String() != wantTable {
		t.Errorf("got\n%s\nwant\n%s", b.String(), wantTable)
	}
}

// Where the record has the number of threads that is asked for, its parts are as they were measured.
func TestTableMeasured(t *testing.T) {
	r := recorded(ms, []int{1})
	r.Name, r.Loops[0].Name = "", "\x1b[2J"
	var b bytes.Buffer
	if err := r.WriteTable(&b, 1, free); err != nil || !strings.Contains(b.String(), "on 1 thread, measured;") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := r.WriteTable(full{}, 1, free); err != errFull {
		t.Errorf("on a full disk: %v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A picture has a group for the record and for each number of threads, and a lane for each thread of it
// in the colours of its loops; where chunks are far more than pixels it stays small.
func TestDraw(t *testing.T) {
	many := make([]int, 20000)
	for i := range many {
		many[i] = 1 + i%3
	}
	r := recorded(ms, many, []int{100, 100, 100, 100})
	for i := range 30 {
		r.Loops = append(r.Loops, Loop{Name: fmt.Sprint("<later>", i), Start: r.Took, End: r.Took, Chunks: nil})
	}
	var svg bytes.Buffer
	if err := Draw(&svg, "svg", []*Record{r, recorded(0, []int{1})}, free, 4, 16); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(svg.Bytes(), new(struct{})); err != nil {
		t.Error(err)
	}
	text := svg.String()
	for _, want := range []string{"1 thread, measured: 40402 ms, busy 100 %; the end is cut off", "4 threads, predicted: 1010", "16 threads, predicted: ", ">&lt;later&gt;0<", ">20 other loops<", ">between loops<", ">milliseconds<"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	if svg.Len() > 50_000 {
		t.Errorf("of 20,000 chunks the picture has %d bytes", svg.Len())
	}
	var file bytes.Buffer
	if err := Draw(&file, "png", []*Record{recorded(ms, []int{1, 1, 1, 1})}, free, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&file); err != nil {
		t.Error(err)
	}
	if err := Draw(io.Discard, "svg", []*Record{recorded(ms, []int{1})}, free, ThreadsMost, ThreadsMost, ThreadsMost, ThreadsMost, ThreadsMost, ThreadsMost); err == nil || !strings.Contains(err.Error(), "points high") {
		t.Errorf("a picture of thousands of lanes: %v", err)
	}
	if text := Text(40, false, []*Record{r}, free, 4); !strings.Contains(text, "\n4 threads, predicted: ") || !strings.Contains(text, "\n4 ") {
		t.Errorf("in a terminal it is\n%s", text)
	}
	if err := Draw(io.Discard, "gif", nil, free); err == nil {
		t.Error("a picture of an unknown form is no error")
	}
}
