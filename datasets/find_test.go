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
	for name, nearest := range map[string]string{"corra": "cora", "CITESER": "citeseer", "pub-med": "pubmed", "carate": "karate", strings.Repeat("x", 1<<17): ""} {
		_, err := Open("", name)
		var e *UnknownError
		if !errors.As(err, &e) || e.Name != strings.ToLower(name) || nearest != "" && e.Nearest != nearest || len(err.Error()) > 300 {
			t.Errorf("%.20s: error %.300v, want one with %s", name, err, nearest)
		}
	}
}

// Of data that others publish an error says who does, where files go and the command that reads them.
func TestPublishedElsewhere(t *testing.T) {
	isolate(t)
	for name, want := range map[string][2]string{
		"enzymes":       {"ENZYMES is published by TUDataset", "train ENZYMES --data DIR"},
		"imdb_binary":   {"IMDB-BINARY is published by TUDataset", "IMDB-BINARY.zip"},
		"ogbn-arxiv":    {"the Open Graph Benchmark", "node-label.csv.gz"},
		"OGBG-molhiv":   {"the Open Graph Benchmark", "graph-label.csv.gz"},
		"roman_empire":  {"roman-empire is published by Platonov", "--split-number each"},
		"fb15k-237":     {"FB15k-237 is published", "train FOLDER --task link"},
		"twitch-de":     {"MUSAE", "_target.csv"},
		"no-such-thing": {"there is no dataset", "there are: amazon_computers, "},
		"citesear":      {"there is no dataset", "did you mean \"citeseer\"? There are: "},
	} {
		_, one := Open("", name)
		_, many := OpenGraphs("", name)
		if one == nil || !errors.As(one, new(*UnknownError)) || !strings.Contains(one.Error(), want[0]) || !strings.Contains(one.Error(), want[1]) {
			t.Errorf("%s: error %v", name, one)
		}
		if many == nil || want[0] != "there is no dataset" && !strings.Contains(many.Error(), want[0]) {
			t.Errorf("%s as graphs: error %v", name, many)
		}
	}
}
