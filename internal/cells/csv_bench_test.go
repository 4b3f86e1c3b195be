package cells

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// million writes a table of a million rows: 12 columns of numbers, 4 of words, 2 of dates and 2 of free text.
func million(b *testing.B) (path string, size int64) {
	path = filepath.Join(b.TempDir(), "million.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, rng := bufio.NewWriterSize(f, 1<<20), rand.New(rand.NewPCG(1, 46))
	fmt.Fprintln(w, "n0,n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,town,kind,channel,state,joined,seen,note,address")
	start := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	letters := "abcdefghijklmnopqrstuvwxyz etaoinshr"
	for range 1_000_000 {
		for k := range 12 {
			switch k % 4 {
			case 0:
				fmt.Fprintf(w, "%d,", rng.IntN(100_000))
			case 1:
				fmt.Fprintf(w, "%.2f,", rng.NormFloat64()*1000)
			case 2:
				fmt.Fprintf(w, "%d,", rng.IntN(2))
			default:
				fmt.Fprintf(w, "%.6f,", rng.Float64())
			}
		}
		at := start.Add(time.Duration(rng.IntN(300_000_000)) * time.Second)
		fmt.Fprintf(w, "town%d,kind%d,%s,state%d,%s,%s", rng.IntN(500), rng.IntN(12), [...]string{"web", "shop", "phone"}[rng.IntN(3)], rng.IntN(50), at.Format(time.DateOnly), at.Format(time.RFC3339))
		for range 2 {
			text := make([]byte, 40+rng.IntN(21))
			for i := range text {
				text[i] = letters[rng.IntN(len(letters))]
			}
			fmt.Fprintf(w, ",x%sx", text)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return path, info.Size()
}

// BenchmarkCSV reads the table that docs/performance.md speaks of, and says what memory that took beside the result's.
func BenchmarkCSV(b *testing.B) {
	path, size := million(b)
	runtime.GC()
	b.SetBytes(size)
	for b.Loop() {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		t, err := Read(f, nil, path, anyCells)
		f.Close()
		if err != nil || t.Rows != 1_000_000 {
			b.Fatal(t, err)
		}
		b.ReportMetric(float64(sizeOfTable(t))/(1<<20), "MiB-result")
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if n := 0; strings.HasPrefix(line, "VmHWM:") {
			fmt.Sscanf(line, "VmHWM: %d kB", &n)
			b.ReportMetric(float64(n)/1024, "MiB-peak")
		}
	}
}

// sizeOfTable returns how many bytes the columns of a table take.
func sizeOfTable(t *Table) (n int) {
	for _, c := range t.Columns {
		n += 8 * (len(c.Numbers) + len(c.Times))
		if c.Words != nil {
			n += 4*len(c.Words.Codes) + 16*len(c.Words.Texts)
			for _, text := range c.Words.Texts {
				n += len(text)
			}
		}
	}
	return n
}
