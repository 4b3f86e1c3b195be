package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// million is a table of nodes: 12 columns of numbers, 4 of words, 2 of dates and 2 of texts.
func million() *form.Table {
	const rows = 1_000_000
	t, rng := &form.Table{Rows: rows, IDs: &form.Words{}}, rand.New(rand.NewPCG(1, 46))
	number := []func() float64{
		func() float64 { return float64(rng.IntN(100_000)) },
		func() float64 { return float64(rng.IntN(1_000_000)) / 100 },
		func() float64 { return float64(rng.IntN(2)) },
		func() float64 { return float64(rng.IntN(1_000_000)) / 1e6 },
	}
	for k := range 20 {
		c := form.Column{Name: fmt.Sprint("c", k), Type: form.Number}
		switch {
		case k >= 18:
			c.Type, c.Words = form.Word, new(form.Words)
		case k >= 16:
			c.Type, c.Dated = form.Time, true
		case k >= 12:
			c.Type, c.Words = form.Word, new(form.Words)
			for i := range []int{500, 12, 3, 50}[k-12] {
				c.Words.Texts = append(c.Words.Texts, fmt.Sprint("word", i))
			}
		}
		for row := range rows {
			switch {
			case c.Type == form.Number:
				c.Numbers = append(c.Numbers, number[k%4]())
			case c.Dated:
				c.Times = append(c.Times, 1_400_000_000_000_000+int64(rng.IntN(300_000_000))*1_000_000)
			case k >= 18:
				c.Words.Texts = append(c.Words.Texts, fmt.Sprintf("a text that no other row has %d %d", row, rng.IntN(1_000_000_000)))
			default:
				c.Words.Codes = append(c.Words.Codes, int32(rng.IntN(len(c.Words.Texts))))
			}
		}
		t.Columns = append(t.Columns, c)
	}
	for row := range rows {
		t.IDs.Texts = append(t.IDs.Texts, strconv.Itoa(row))
	}
	return t
}

// writeCSV writes a table as text.
func writeCSV(f *os.File, t *form.Table) error {
	w := bufio.NewWriter(f)
	fmt.Fprint(w, "id")
	for i := range t.Columns {
		fmt.Fprint(w, ",", t.Columns[i].Name)
	}
	for row := range t.Rows {
		fmt.Fprint(w, "\n", t.IDs.At(row))
		for i := range t.Columns {
			switch c := &t.Columns[i]; c.Type {
			case form.Number:
				fmt.Fprint(w, ",", strconv.FormatFloat(c.Numbers[row], 'f', -1, 64))
			case form.Time:
				fmt.Fprint(w, ",", time.UnixMicro(c.Times[row]).UTC().Format(time.RFC3339))
			default:
				fmt.Fprint(w, ",", c.Words.At(row))
			}
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// BenchmarkMillion reads one table as CSV and as Parquet.
func BenchmarkMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a table of a million rows")
	}
	dir, t := b.TempDir(), million()
	for _, name := range []string{"nodes.csv", "nodes.parquet"} {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if name == "nodes.csv" {
			err = writeCSV(f, t)
		} else {
			err = errors.Join(Write(f, t), f.Close())
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				raw, err := form.Load(path, form.Options{Others: []form.Form{Form}})
				if err != nil || raw.Nodes[0].Rows != t.Rows {
					b.Fatal(raw, err)
				}
				b.SetBytes(raw.Size)
			}
		})
	}
}
