package datadir

import (
	"slices"
	"testing"
)

func TestFolders(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // Linux
	t.Setenv("HOME", t.TempDir())           // macOS
	t.Setenv("LocalAppData", t.TempDir())   // Windows
	cache, err := Cache()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flag, env string
		want      []string
	}{{"", "", []string{cache}}, {"a", "", []string{"a", cache}}, {"", "b", []string{"b", cache}}, {"a", "b", []string{"a", "b", cache}}} {
		t.Setenv("EDGEWISE_DATA", c.env)
		if got := Folders(c.flag); !slices.Equal(got, c.want) {
			t.Errorf("flag %q, environment %q: %q, want %q", c.flag, c.env, got, c.want)
		}
	}
}
