package bits

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/edgewise-ml/edgewise/grad"
	simdcpu "github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

var (
	update = flag.Bool("update", false, "record the hashes of this build")
	added  = flag.Bool("new", false, "with -update: compute and record only what has no hash yet")
)

// groups are the parts of the table: each adds entries to a book. Unless sparing.Full, one
// in so many is computed of each family.
var groups = []struct {
	name  string
	fill  func(b *book)
	every int
}{
	{"layers", layersOn, 8},
	{"sequence", sequences, 2},
	{"messages", messages, 7},
	{"expressions", expressions, 2},
	{"attention", attentions, 3},
	{"dense", dense, 5},
	{"plain", plain, 2},
	{"training", trainings, 5},
	{"pool", pools, 1},
	{"relations", relationals, 1},
	{"memory", memories, 1},
	{"attentive", attentive, 1},
	{"networks", networks, 2},
}

// build is the column of this build, or why there is none to compare with.
func build() (column int, why string) {
	switch {
	case runtime.GOARCH != "amd64":
		return 0, "hashes are recorded on amd64, and this is " + runtime.GOARCH
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return 0, "hashes are recorded on processors with AVX2 and FMA, and this has none"
	case level() >= "v3":
		return 0, "hashes are recorded with GOAMD64=v1, and this is " + level() + ", where the compiler joins products with sums"
	case isF64():
		return slices.Index(columns, "f64"), ""
	case simdcpu.Path() == "go":
		return slices.Index(columns, "noasm"), ""
	}
	return slices.Index(columns, "avx2"), ""
}

func isF64() bool {
	var x tensor.Float = 1 << 24
	return x+1 != x
}

// level is the GOAMD64 that the test was built with.
func level() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" {
			return s.Value
		}
	}
	return "v1"
}

// TestBits compares the hash of every result and gradient with the recorded one.
func TestBits(t *testing.T) {
	column, why := build()
	if why != "" {
		t.Skip(why)
	}
	if simdcpu.Path() == "avx512" {
		defer simdcpu.Narrow()()
	}
	recorded, err := read(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	want := recorded.column(column)
	got := &book{t: t, hashes: map[string]string{}, tape: grad.NewTape(11)}
	switch {
	case *update && *added:
		got.spared = want
	case !sparing.Full() && !*update:
		got.spared = spare(want)
		t.Logf("%d of %d entries are computed", len(want)-len(got.spared), len(want))
	}
	for _, g := range groups {
		got.prefix = g.name
		began := time.Now()
		g.fill(got)
		t.Logf("%-12s %5d ms", g.name, time.Since(began).Milliseconds())
	}
	if *update {
		if err := os.WriteFile(tablePath, recorded.with(column, got.hashes).text(), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("recorded %d hashes of %s in %s", len(got.hashes), columns[column], tablePath)
		return
	}
	for _, d := range differences(got.hashes, want) {
		t.Error(d)
	}
}

// spare returns the entries that the usual run takes as recorded. Of a family, which is an
// operation, a formula or a layer, one in so many is computed: in one family from the first
// on, in the next from the second, since both list the same graphs and shapes. So each family
// and each shape is seen, if not each shape of each.
func spare(want map[string]string) map[string]string {
	spared := maps.Clone(want)
	families := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		group, rest, _ := strings.Cut(name, "/")
		operation, _, _ := strings.Cut(rest, "/")
		families[group+"/"+operation] = append(families[group+"/"+operation], name)
	}
	for i, family := range slices.Sorted(maps.Keys(families)) {
		names, every := families[family], 1
		for _, g := range groups {
			if strings.HasPrefix(family, g.name+"/") {
				every = g.every
			}
		}
		for k := i % min(every, len(names)); k < len(names); k += every {
			delete(spared, names[k])
		}
	}
	return spared
}

// differences says which entries are not the same in both, one sentence each.
func differences(got, want map[string]string) (out []string) {
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, n := range slices.Sorted(maps.Keys(names)) {
		g, computed := got[n]
		w, recorded := want[n]
		switch {
		case !recorded:
			out = append(out, n+": computed, but not recorded")
		case !computed:
			out = append(out, n+": recorded, but not computed")
		case g != w:
			out = append(out, fmt.Sprintf("%s: other bits, %s and not %s", n, g, w))
		}
	}
	return out
}

// The comparison must be able to fail.
func TestDifferences(t *testing.T) {
	want := map[string]string{"a": "1", "b": "2", "c": "3"}
	got := map[string]string{"a": "1", "b": "x", "d": "4"}
	says := strings.Join(differences(got, want), "; ")
	if says != "b: other bits, x and not 2; c: recorded, but not computed; d: computed, but not recorded" {
		t.Errorf("got %q", says)
	}
}
