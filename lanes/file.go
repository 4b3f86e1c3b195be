package lanes

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/par"
)

// The form of a file: a record a line.
type (
	recordJSON struct {
		Kind    string     `json:"edgewise"`
		Name    string     `json:"name"`
		Threads int        `json:"threads"`
		Took    int64      `json:"took_ns"`
		Cut     int        `json:"cut,omitempty"`
		Loops   []loopJSON `json:"loops"`

		Others []*recordJSON `json:"others,omitempty"`
	}
	loopJSON struct {
		Name   string     `json:"name"`
		Start  int64      `json:"start_ns"`
		End    int64      `json:"end_ns"`
		Chunks [][3]int64 `json:"chunks"` // start, end, thread
	}
)

// kind is what a line of the form says that it is.
const kind = "record of loops"

// bounds keep a file from taking many times its size of memory.
type bounds struct{ bytes, records, loops, chunks int }

// readMost are the bounds of Read.
var readMost = bounds{bytes: 1 << 27, records: 1000, loops: 1 << 20, chunks: par.ChunksMost}

// tookMost is the longest record that is read. It keeps sums of times from an overflow.
const tookMost = int64(time.Hour)

// Write writes records as JSON, one a line, for [Read].
func Write(w io.Writer, records ...*Record) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for _, r := range records {
		if err := lines.Encode(r.json()); err != nil {
			return err
		}
	}
	return out.Flush()
}

// json is the record as it is written.
func (r *Record) json() *recordJSON {
	j := &recordJSON{Kind: kind, Name: r.Name, Threads: r.Threads, Took: int64(r.Took), Cut: r.Cut, Loops: []loopJSON{}}
	for _, l := range r.Loops {
		to := loopJSON{Name: l.Name, Start: int64(l.Start), End: int64(l.End), Chunks: [][3]int64{}}
		for _, c := range l.Chunks {
			to.Chunks = append(to.Chunks, [3]int64{int64(c.Start), int64(c.End), int64(c.Thread)})
		}
		j.Loops = append(j.Loops, to)
	}
	for _, o := range r.Others {
		j.Others = append(j.Others, o.json())
	}
	return j
}

// Read reads what [Write] wrote, on this machine or another one.
func Read(r io.Reader) ([]*Record, error) { return readMost.read(r) }

func (most bounds) read(r io.Reader) ([]*Record, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most.bytes)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > most.bytes {
		return nil, fmt.Errorf("it has more than %d bytes: record fewer names, or a shorter time", most.bytes)
	}
	var out []*Record
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if len(out) == most.records {
			return nil, fmt.Errorf("it has more than %d records", most.records)
		}
		made, err := most.parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, made)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no record: write one with lanes.Write, or gatbench bench --trace FILE.json")
	}
	return out, nil
}

// parse reads a line.
func (most bounds) parse(line []byte) (*Record, error) {
	if loops := bytes.Count(line, []byte("{")); loops > most.loops+1 {
		return nil, fmt.Errorf("it has more than %d loops", most.loops)
	}
	if bytes.Count(line, []byte("[")) > most.chunks+most.loops+1 {
		return nil, fmt.Errorf("it has more than %d chunks", most.chunks)
	}
	var j recordJSON
	if err := jsonread.Unmarshal(line, &j); err != nil {
		return nil, jsonread.What(err)
	}
	r, err := j.record(most)
	if err != nil {
		return nil, err
	}
	for i, o := range j.Others {
		switch {
		case o == nil || len(o.Others) > 0:
			return nil, fmt.Errorf("other record %d is none, or has others itself", i)
		case o.Cut == 0:
			return nil, fmt.Errorf("other record %d does not say how many threads it is cut for", i)
		}
		made, err := o.record(most)
		if err != nil {
			return nil, fmt.Errorf("other record %d: %w", i, err)
		}
		r.Others = append(r.Others, made)
	}
	return r, nil
}

// record is the record, or what is wrong with it.
func (j *recordJSON) record(most bounds) (*Record, error) {
	switch {
	case j.Kind != kind:
		return nil, fmt.Errorf("it is no record of loops: write one with gatbench bench --trace FILE.json")
	case j.Threads < 1 || j.Threads > ThreadsMost:
		return nil, fmt.Errorf("threads is %d, and must be 1 to %d", j.Threads, ThreadsMost)
	case j.Took < 0 || j.Took > tookMost:
		return nil, fmt.Errorf("took_ns is %d, and must be 0 to %d, an hour", j.Took, tookMost)
	case j.Cut < 0 || j.Cut > ThreadsMost:
		return nil, fmt.Errorf("cut is %d, and must be 1 to %d, or 0", j.Cut, ThreadsMost)
	}
	r := &Record{Name: j.Name, Threads: j.Threads, Took: time.Duration(j.Took), Cut: j.Cut}
	before, chunks := int64(0), 0
	for i, l := range j.Loops {
		if chunks += len(l.Chunks); chunks > most.chunks {
			return nil, fmt.Errorf("it has more than %d chunks", most.chunks)
		}
		if l.Start < before || l.End < l.Start || l.End > j.Took {
			return nil, fmt.Errorf("loop %d is from %d to %d: it must begin after the one before, at %d, and end before %d", i, l.Start, l.End, before, j.Took)
		}
		before = l.End
		loop, err := l.loop(j.Threads)
		if err != nil {
			return nil, fmt.Errorf("loop %d: %w", i, err)
		}
		r.Loops = append(r.Loops, loop)
	}
	return r, nil
}

// loop is the loop, or what is wrong with its chunks.
func (l *loopJSON) loop(threads int) (Loop, error) {
	out := Loop{Name: l.Name, Start: time.Duration(l.Start), End: time.Duration(l.End)}
	for i, c := range l.Chunks {
		start, end, thread := c[0], c[1], c[2]
		if start < l.Start || end < start || end > l.End {
			return out, fmt.Errorf("chunk %d is from %d to %d, and the loop from %d to %d", i, start, end, l.Start, l.End)
		}
		if thread < 0 || thread >= int64(threads) {
			return out, fmt.Errorf("chunk %d is of thread %d, and there are %d", i, thread, threads)
		}
		out.Chunks = append(out.Chunks, Chunk{time.Duration(start), time.Duration(end), int(thread)})
	}
	sorted := slices.SortedFunc(slices.Values(out.Chunks), func(a, b Chunk) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.Thread == b.Thread && b.Start < a.End {
			return out, fmt.Errorf("thread %d does two chunks at a time, from %d and from %d", a.Thread, a.Start, b.Start)
		}
	}
	return out, nil
}
