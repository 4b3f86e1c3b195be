package gatbench

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/fact"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// Every flag works in every one, or is refused with what to do instead: what it is given
// changes what is printed, or is there as a file.
func TestFlagsByTask(t *testing.T) {
	dir := t.TempDir()
	facts := filepath.Join(dir, "facts.tsv")
	text := ""
	for i := range 30 {
		text += strings.Join([]string{string(rune('a' + i%7)), "r" + string(rune('0'+i%2)), string(rune('a' + (i*3+1)%7))}, "\t") + "\n"
	}
	if err := os.WriteFile(facts, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	mols := tasktest.Bonded(t, tasktest.Chemistry(t, false))
	tasks := []struct {
		name, key, base string
		remedies        map[string]string
	}{
		{"nodes", task.Node, "--dataset karate --splits random --epochs 1", node.Remedies},
		{"folds of graphs", task.Graph, "--task graph --dataset " + mols + " --epochs 2 --hidden 4 --layers 2 --folds 2", graphs.Remedies},
		{"graphs", task.Graph, "--task graph --dataset " + mols + " --epochs 1 --hidden 4 --layers 2 --splits random", graphs.Remedies},
		{"links", task.Link, "--task link --dataset karate --epochs 1 --hidden 4", link.Remedies},
		{"links without features", task.Link, "--task link --model lightgcn --dataset karate --epochs 1 --hidden 4 --layers 2", link.LightRemedies()},
		{"facts", task.Facts, "--task link --dataset " + facts + " --model rotate --epochs 2 --hidden 4", fact.Remedies},
	}
	values := map[string]string{ // FILE is a file of its own
		"dataset": "", "model": "", "task": "", "data": "", "epochs": "--epochs 3", "json": "", "threads": "--threads 1", "rows": "--rows all",
		"preset": "--preset dgl", "splits": "--splits random", "split-number": "--split-number 1", "seed": "--seed 5", "hidden": "--hidden 6", "heads": "--heads 2",
		"out-heads": "--out-heads 3", "layers": "--layers 3", "features": "--features standard", "dropout": "--dropout 0.3", "attention-dropout": "--attention-dropout 0.1",
		"residual": "--residual", "residual-linear": "--residual-linear", "norm": "--norm layer", "input": "--input 5", "output": "--output", "lr": "--lr 0.5", "weight-decay": "--weight-decay 1", "patience": "--patience 2 --epochs 12", "select": "--select last", "class-weights": "--class-weights 1,5", "positive": "--positive luck", "no-baseline": "--no-baseline", "loss": "--loss mae",
		"inductive": "--inductive", "batch": "--batch 7", "accumulate": "--batch 7 --accumulate 2", "limit": "", "fanout": "--batch 4 --fanout 1,1", "folds": "--folds 3", "encoding": "--encoding degree:3", "no-edge-features": "--no-edge-features", "seeds": "--seeds 2",
		"save": "--save FILE", "checkpoint": "--checkpoint FILE", "every": "--checkpoint FILE --every 1", "resume": "", "out": "--out FILE", "dry-run": "", "log": "--log tensorboard:FILE",
		"picture": "--picture FILE.svg", "plot": "", "undirected": "--undirected", "attention": "--attention FILE.csv", "nodes": "--attention FILE.csv --nodes 3", "profile": "--profile FILE", "readout": "--readout max", "pool": "--pool sag",
		"id": "--id id", "source": "--source source", "target": "--target target", "edge-id": "--edge-id id", "label": "--label club", "weight": "--weight weight", "column": "--column age=none", "repeated": "--repeated keep", "directed": "--directed",
	}
	quiet := map[string]bool{"threads": true, "rows": true, "select": true, "no-baseline": true, "undirected": true} // these may change nothing
	folds := regexp.MustCompile(`^--(save|checkpoint|every|log|picture|seeds|patience|select|splits)\b`)
	times := regexp.MustCompile(`"(ms|epoch_ms|total_ms|peak_rss_mib)":[0-9.e+-]+`)
	run := func(args string) (string, string, int) {
		stdout, stderr, status := tasktest.Gatbench(t, append([]string{"train", "--json"}, strings.Fields(args)...)...)
		return times.ReplaceAllString(stdout, ""), stderr, status
	}
	var names []string
	task.EachFlag(reflect.ValueOf(&trainCommand{}).Elem(), func(name, _ string, _ reflect.Value) { names = append(names, name) })
	for _, one := range tasks {
		plain, stderr, status := run(one.base)
		if status != cli.Succeeded {
			t.Fatalf("%s: %s", one.name, stderr)
		}
		for flag := range one.remedies {
			if _, ok := values[flag]; !ok {
				t.Errorf("%s: there is a remedy for --%s, which is no flag", one.name, flag)
			}
		}
		for i, flag := range names {
			args, ok := values[flag]
			if one.key == task.Graph {
				switch flag {
				case "preset":
					args = "--preset paper"
				case "column":
					args = "--column x=none"
				}
			}
			if flag == "column" && one.key == task.Graph {
				args = "--column x=code"
			}
			if !ok {
				t.Errorf("--%s is a flag that this test does not know", flag)
			}
			if args == "" {
				continue
			}
			base := one.base
			if one.key == task.Node && (flag == "folds") {
				base = strings.Replace(base, " --splits random", "", 1)
			}
			if flag == "folds" && one.name == "graphs" {
				continue // folds of graphs has it
			}
			base = regexp.MustCompile(" --"+flag+" [^ ]+").ReplaceAllString(base, "")
			if strings.Contains(args, "--epochs") {
				base = regexp.MustCompile(" --epochs [^ ]+").ReplaceAllString(base, "")
			}
			file := filepath.Join(dir, strings.ReplaceAll(one.name, " ", "-")+"-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
			remedy := one.remedies[flag]
			if remedy != "" {
				args = args[strings.Index(args, "--"+flag):] // without what it needs elsewhere
			}
			line := base + " " + strings.ReplaceAll(args, "FILE", file)
			stdout, stderr, status := run(line)
			switch {
			case remedy != "" && (status != cli.Misused || !strings.Contains(stderr, remedy)):
				t.Errorf("%s, %s: status %d, %s; want the remedy %q", one.name, line, status, stderr, remedy)
			case remedy != "":
			case one.name == "folds of graphs" && folds.MatchString(args) || flag == "splits" && one.name == "folds of graphs":
				if status != cli.Misused || !strings.Contains(stderr, "--splits") && !strings.Contains(stderr, "--seed") {
					t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
				}
			case flag == "splits" && one.key == task.Link: // by time alone
				if status != cli.Misused || !strings.Contains(stderr, "the seed divides the links") {
					t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
				}
			case one.key != task.Graph && strings.Contains(" id source target edge-id label weight column repeated directed ", " "+flag+" "): // karate is in no table
				if status != cli.Misused || !strings.Contains(stderr, "it is known what its columns are for: leave out --"+flag) {
					t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
				}
			case flag == "positive" || flag == "class-weights" && one.key == task.Graph: // these graphs have labels
				if status != cli.Misused || !strings.Contains(stderr, "the choices are") && !strings.Contains(stderr, "leave") {
					t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
				}
			case flag == "loss" || flag == "split-number" || flag == "no-edge-features" && one.key == task.Node: // karate has none
				if status != cli.Misused || !strings.Contains(stderr, "leave") {
					t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
				}
			case status != cli.Succeeded:
				t.Errorf("%s, %s: status %d, %s", one.name, line, status, stderr)
			case strings.Contains(args, "FILE"):
				made, _ := filepath.Glob(file + "*")
				if len(made) == 0 {
					t.Errorf("%s, %s: there is no file", one.name, line)
				}
			case stdout == plain && !quiet[flag] && flag != "splits":
				t.Errorf("%s, %s: nothing changes", one.name, line)
			}
		}
	}
}
