package graph

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

func TestCompact(t *testing.T) {
	g, ids, err := NewCompact([]int64{7, -3, 1 << 40}, []int64{-3, 1 << 40, 7})
	if err != nil || !slices.Equal(ids, []int64{-3, 7, 1 << 40}) {
		t.Fatal(ids, err)
	}
	same(t, g, Must(New(3, []int32{1, 0, 2}, []int32{0, 2, 1})))
	names, numbers, err := Compact([]string{"b", "a"}, nil, []string{"c", "b", "b"})
	if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) || !slices.Equal(numbers[0], []int32{1, 0}) || len(numbers[1]) != 0 || !slices.Equal(numbers[2], []int32{2, 1, 1}) {
		t.Error(names, numbers, err)
	}
	if g, ids, err := NewCompact[int](nil, nil); err != nil || len(ids) != 0 || g.NumNodes() != 0 {
		t.Error("no edges:", g, ids, err)
	}
	if g, ids, err := NewCompact([]int{1}, []int{}); g != nil || ids != nil || err == nil || !strings.Contains(err.Error(), "1 sources for 0 destinations") {
		t.Error("lengths that differ:", g, ids, err)
	}
}

func FuzzCompact(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"), 1)
	f.Add(make([]byte, 64), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var ids []int16
		for i := 0; i+1 < len(data); i += 2 {
			ids = append(ids, int16(binary.LittleEndian.Uint16(data[i:])))
		}
		cut = max(0, min(cut, len(ids)))
		kept := slices.Clone(ids)
		names, numbers, err := Compact(ids[:cut], ids[cut:])
		if err != nil || !slices.Equal(ids, kept) {
			t.Fatal("error, or the lists changed:", err)
		}
		used := make([]bool, len(names))
		for k, list := range [][]int16{ids[:cut], ids[cut:]} {
			for i, id := range list {
				if names[numbers[k][i]] != id {
					t.Fatalf("id %d of list %d is %d, numbered as %d", i, k, id, names[numbers[k][i]])
				}
				used[numbers[k][i]] = true
			}
		}
		for n := range names {
			if !used[n] || n > 0 && names[n] <= names[n-1] {
				t.Fatalf("names %v, used %v", names, used)
			}
		}
	})
}
