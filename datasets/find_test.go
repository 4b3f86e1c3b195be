package datasets

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// isolate keeps a test away from the user's folders.
func isolate(t *testing.T) (env, cache string) {
	t.Helper()
	env, cache = t.TempDir(), t.TempDir()
	t.Setenv("EDGEWISE_DATA", env)
	t.Setenv("XDG_CACHE_HOME", cache) // Linux
	t.Setenv("HOME", cache)           // macOS
	t.Setenv("LocalAppData", cache)   // Windows
	return env, cache
}

func TestFindOrder(t *testing.T) {
	env, _ := isolate(t)
	flag := t.TempDir()
	if _, err := Find(flag, "citeseer"); err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), env) || !strings.Contains(err.Error(), "ind.citeseer.allx") {
		t.Errorf("error %v does not say where it looked and what to do", err)
	}
	cache := folders("")[1]
	for _, dir := range []string{filepath.Join(cache, "planetoid"), env, filepath.Join(flag, "planetoid"), flag} {
		write(t, dir, small())
		if got, err := Find(flag, "CiteSeer"); err != nil || got != dir {
			t.Errorf("found %q, error %v; want %q", got, err, dir)
		}
	}
	if d, err := Open(flag, "CITESEER"); err != nil || d.Name != "CiteSeer" {
		t.Errorf("opened %v, error %v", d, err)
	}
}

func TestUnknownName(t *testing.T) {
	isolate(t)
	for name, nearest := range map[string]string{"corra": "cora", "CITESER": "citeseer", "pub-med": "pubmed", "carate": "karate", strings.Repeat("x", 1<<20): ""} {
		_, err := Open("", name)
		var e *UnknownError
		if !errors.As(err, &e) || e.Name != strings.ToLower(name) || nearest != "" && e.Nearest != nearest || len(err.Error()) > 300 {
			t.Errorf("%.20s: error %.300v, want one with %s", name, err, nearest)
		}
	}
	if _, err := Planetoid(".", "karate"); !errors.As(err, new(*UnknownError)) {
		t.Errorf("karate from files: error %v", err)
	}
}
