package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/use/tables.md says works: tables as they come are trained on, and a model that is saved
// finds them and their columns again.
func TestTablesOfTheGuide(t *testing.T) {
	nowhere(t)
	const shop = "../../datasets/testdata/shop_edges.csv#churned,-email,undirected"
	stdout, stderr, status := gatbench(t, "data", "describe", shop)
	guide, err := os.ReadFile("../../docs/use/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	_, said, ok := strings.Cut(stdout, "nodes ")
	said, _, _ = strings.Cut("nodes "+said, "          0: ")
	if status != succeeded || !ok || !strings.Contains(string(guide), said) {
		t.Errorf("status %d, error %q; the guide does not say\n%s", status, stderr, said)
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	stdout, stderr, status = gatbench(t, "train", "--features", "standard", "--epochs", "100", "--dataset", shop, "--save", model)
	if status != succeeded || !strings.Contains(stdout, "test           125    9") {
		t.Fatalf("status %d, error %q, output\n%s", status, stderr, stdout)
	}
	out, stderr, status := gatbench(t, "eval", model)
	if status != succeeded || !strings.Contains(out, "test           125    9") {
		t.Errorf("status %d, error %q, output\n%s", status, stderr, out)
	}
	_, stderr, status = gatbench(t, "train", "--dataset", shop+",-nobody")
	if status != failed || !strings.Contains(stderr, `shop_edges.csv: there is no column "nobody"; there are "source", "target", "channel"`) {
		t.Errorf("status %d, error %q", status, stderr)
	}
}
