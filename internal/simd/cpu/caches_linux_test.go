package cpu

import "testing"

func TestCacheSize(t *testing.T) {
	for text, want := range map[string]int{"1024K": 1 << 20, "32M": 32 << 20, "512": 512, "": 0, "K": 0, "-3K": 0, "99999999999999999999K": 0, "9999999999M": 0} {
		if got := cacheSize(text); got != want {
			t.Errorf("%q is %d bytes, want %d", text, got, want)
		}
	}
	if second, last := Caches(); second < 1 || last < second {
		t.Errorf("the second cache has %d bytes, the last %d", second, last)
	}
}
