package gatbench

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

func TestMisuse(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ args, want string }{
		{"", `expected one of "train", "eval", "predict", "table", "bench", ...; gatbench --help lists the commands`},
		{"trian", `unexpected argument trian, did you mean "train"?`},
		{"zzz", `unexpected argument zzz; gatbench --help lists the commands`},
		{"train --datset cora", `unknown flag --datset, did you mean "--dataset"?`},
		{"train --epoch 3", `unknown flag --epoch, did you mean "--epochs"?`},
		{"train cora karate", `unexpected argument karate: train takes one argument, and karate is another; gatbench train --help lists what it takes`},
		{"train cora --dataset karate", `cora and --dataset karate: they both name the data: leave one of them out`},
		{"train p.png --plot", `p.png: --plot shows the training in the terminal; --picture p.png draws it into a file`},
		{"train --dataset citeser", `there is no dataset "citeser"; did you mean "citeseer"? There are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`},
		{"train --dataset karate --splits 60/20/30", `--splits 60/20/30: they sum to 110, not to 100: want the shares that train, validate and test in per cent, such as 60/20/20`},
		{"train --dataset karate --splits 100/0/0", `--splits 100/0/0: nothing would validate: want the shares that train, validate and test in per cent, such as 60/20/20`},
		{"train --dataset karate --splits 0/50/50", `--splits 0/50/50: nothing would train: want the shares that train, validate and test in per cent, such as 60/20/20`},
		{"train --dataset karate --splits 60/40", `--splits 60/40: there are 2 shares: want the shares that train, validate and test in per cent, such as 60/20/20`},
		{"train --dataset karate --splits 60/x20/20", `--splits 60/x20/20: there is no such file; did you mean "60/20/20"? Write own, 60/20/20, random, shchur, folds:5, time, column:NAME, or the name of a .json or .npz file of the lists train, val and test`},
		{"train --dataset karate --splits folds:1", `--splits folds:1: there must be at least 3 folds, because one tests and another validates`},
		{"train --dataset karate --splits folds:many", `--splits folds:many: want a number of folds after the colon, such as folds:5`},
		{"train --dataset karate --splits folds:18", `--splits folds:18: 18 folds: "Mr. Hi" has 17 nodes, which cannot be in each: take folds:17 or 60/20/20`},
		{"train --dataset karate --splits folds:5 --folds 5", `--folds 5 and --splits folds:5: they say the same: leave one of the two flags out`},
		{"train --dataset csl --splits folds:16", `--folds 16: "2" has 15 graphs, which cannot be in each: take at most 15 folds, or --splits 60/20/20`},
		{"train --dataset csl --splits time", `--splits time: nothing says when graphs came: take 60/20/20`},
		{"train --dataset csl --splits column:part", `--splits column:part: a graph's part is its member or column split: call it so`},
		{"train --dataset karate --splits column:club", `--dataset karate: it is known what its columns are for: leave out --splits column:club`},
		{"train --data " + dir + "/no", `--data ` + dir + `/no: there is no such folder`},
		{"data describe cora --data " + dir + "/no", `--data ` + dir + `/no: there is no such folder`},
		{"train --dataset karate --splits random --data " + dir, `--data: karate is part of the program and does not need a folder`},
		{"train --epochs 0", `--epochs 0: it must be at least 1`},
		{"train --epochs=-1", `--epochs -1: it must be at least 1`},
		{"train --epochs many", `--epochs many: it must be a whole number`},
		{"train --seed=-1", `--seed -1: it must be a whole number that is not negative`},
		{"train --epochs -3", `--epochs -3: it must be at least 1`},
		{"train --epochs 1e3", `--epochs 1e3: it must be a whole number`},
		{"train --epochs", `--epochs: it must be followed by a whole number`},
		{"train --epochs --json", `--epochs: it must be followed by a whole number`},
		{"train --dataset --json", `--dataset: it must be followed by a value`},
		{"train --lr -1", `--lr -1: it must be a number above 0`},
		{"train --lr fast", `--lr fast: it must be a number`},
		{"train --dropout -.5", `--dropout -0.5: it must be at least 0 and less than 1`},
		{"train --nodes -1,2 --attention " + dir + "/a.csv", `--nodes: number 1 of the list is -1; Cora has the nodes 0 to 2707`},
		{"train --batch 9 --fanout -3,2", `--fanout -3,2: "-3" is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all`},
		{"train --task link --patience -1", `--patience -1: it must be at least 0`},
		{"demo stack --epochs -1", `--epochs -1: it must be at least 1, or 0 for the demo's own`},
		{"train --task nodes", `--task nodes: there is no such name; did you mean "node"? The choices are node, edge, graph, link`},
		{"train --task fact", `--task fact: there is no such task; facts are links of several kinds: write gatbench train --task link --model rotate`},
		{"train --task facts --model transe --dataset a.tsv", `--task facts: there is no such task; facts are links of several kinds: write gatbench train --task link --model transe a.tsv`},
		{"train --model rotate", `--model rotate: it is a model of facts, not of nodes and edges: write gatbench train --task link --model rotate`},
		{"train --model RotatE --dataset a.tsv", `--model RotatE: it is a model of facts, not of nodes and edges: write gatbench train --task link --model rotate a.tsv`},
		{"train --model lightgcn --dataset karate", `--model lightgcn: it is a model of links, not of nodes and edges: write gatbench train --task link --model lightgcn karate`},
		{"train --task graph --model h2gcn", `--model h2gcn: it is a model of nodes and edges, not of whole graphs: write gatbench train --model h2gcn`},
		{"train --task edge --model vgae", `--model vgae: it is a model of links, not of edges: write gatbench train --task link --model vgae`},
		{"train --task link --model rottate", `--model rottate: there is no such name; did you mean "rotate"? The choices are rotate, transe, distmult, complex, gae, vgae, lightgcn`},
		{"table --models complex", `--model complex: it is a model of facts, not of nodes and edges: write gatbench train --task link --model complex`},
		{"table --models gta", `--model gta: there is no such name; did you mean "gat"? The choices are ` + strings.Join(models.Names(), ", ")},
		{"train --preset papr", `--preset papr: there is no such name; did you mean "paper"? The choices are quick, paper, dgl, pyg, shchur, graphsaint, tuned, deep`},
		{"train --select acc", `--select acc: there is no such name; did you mean "accuracy"? The choices are accuracy, loss, either, last, auc, ap, f1`},
		{"train --encoding random-wal:8", `--encoding random-wal: there is no such name; did you mean "random-walk"? The choices are random-walk, laplacian, degree, pagerank, core, louvain`},
		{"train --encoding pagerank,cor", `--encoding cor: there is no such name; did you mean "core"? The choices are random-walk, laplacian, degree, pagerank, core, louvain`},
		{"train --encoding core,louvain:3,core", `--encoding core,louvain:3,core: core is there twice: leave one out`},
		{"train --encoding degree:3,degree:4", `--encoding degree:3,degree:4: degree is there twice: leave one out`},
		{"train --encoding pagerank:4", `--encoding pagerank:4: pagerank takes no number: write pagerank`},
		{"train --encoding core,louvain:1025", `--encoding louvain:1025: want louvain:K with K from 1 to 1024`},
		{"train --encoding core,", `--encoding core,: a name is missing; there are random-walk, laplacian, degree, pagerank, core, louvain, with commas between them`},
		{"train --encoding core,louvain --inductive", `--encoding louvain:16 and --inductive: the nodes that train alone have other communities than the whole graph, so the columns would change their meaning: leave one of them out`},
		{"train --task link --encoding louvain:0", `--encoding louvain:0: want louvain:K with K from 1 to 1024`},
		{"train --task link --model lightgcn --encoding core", `--encoding: LightGCN reads none, a row of each node is learnt: leave it out`},
		{"train --task link --model rotate --dataset a.tsv --encoding core", `--encoding: entities have no features; the model learns a row for each: leave it out`},
		{"train --task graph --dataset csl --splits randm", `--splits randm: there is no such file; did you mean "random"? Write own, 60/20/20, random, folds:10, or the name of a .json or .npz file of the lists train, val and test`},
		{"train --task graph --dataset csl --pool tpok", `--pool tpok: there is no such name; did you mean "topk"? The choices are topk, sag`},
		{"train --dataset MUTTAG", `there is no dataset "muttag"; there are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`},
		{"train --seeds 0", `--seeds 0: it must be at least 1`},
		{"train --threads=-2", `--threads -2: it must be at least 1, or 0 for all processors`},
		{"train --seeds 2 --save x", `--save keeps one model and --seeds 2 trains 2: leave one of the two flags out`},
		{"train --save " + dir, `--save ` + dir + `: it is a folder; name a file`},
		{"train --csv /dev/null", `--out /dev/null: it is not a regular file; name one that is`},
		{"train --picture /dev/stdout.svg", `--picture /dev/stdout.svg: it is not a regular file; name one that is`},
		{"train --save " + dir + "/no/x", `--save ` + dir + `/no/x: there is no folder ` + dir + `/no to put it in`},
		{"train --model gatt", `--model gatt: there is no such name; did you mean "gat"? The choices are ` + strings.Join(models.Names(), ", ")},
		{"train --features sums", `--features sums: there is no such name; the choices are raw, rows, standard, binary, binary-rows`},
		{"table --features sums", `--features sums: there is no such name; the choices are raw, rows, standard, binary, binary-rows`},
		{"train --attention-dropout 1", `--attention-dropout 1: it must be at least 0 and less than 1`},
		{"train --model gcn --attention-dropout 0.1", `--attention-dropout: gcn has no such setting; these models have it: ` + node.Having("attention-dropout")},
		{"train --preset tf", `--preset tf: there is no such name; the choices are quick, paper, dgl, pyg, shchur, graphsaint, tuned, deep`},
		{"train --select best", `--select best: there is no such name; the choices are accuracy, loss, either, last, auc, ap, f1`},
		{"train --hidden 0", `--hidden 0: it must be at least 1`},
		{"train --hidden 100000", `--hidden 100000 with --heads 8 and --out-heads 1: a layer has at most 65536 columns`},
		{"train --heads 0", `--heads 0: it must be at least 1`},
		{"train --out-heads 0", `--out-heads 0: it must be at least 1`},
		{"train --layers 0", `--layers 0: it must be at least 1`},
		{"train --layers 101", `--layers 101: there can be at most 100`},
		{"train --layers 1 --hidden 4", `--hidden 4 and --layers 1: a network of one layer has no hidden layer: leave one of the two flags out`},
		{"train --layers 1 --heads 4", `--heads 4 and --layers 1: the heads of the last layer are --out-heads`},
		{"train --dropout 1", `--dropout 1: it must be at least 0 and less than 1`},
		{"train --dropout NaN", `--dropout NaN: it must be at least 0 and less than 1`},
		{"train --lr 0", `--lr 0: it must be a number above 0`},
		{"train --lr NaN", `--lr NaN: it must be a number above 0`},
		{"train --lr Inf", `--lr +Inf: it must be a number above 0`},
		{"train --weight-decay=-1", `--weight-decay -1: it must be a number, and not negative`},
		{"train --patience=-1", `--patience -1: it must be at least 0`},
		{"train --batch=-1", `--batch -1: it must be at least 0`},
		{"train --model sgc --batch 5", `--batch 5: a layer of sgc looks several hops far and a batch holds one hop a layer: leave it out`},
		{"train --batch 2000", `--batch 2000: there are 140 to train on: give 140 at most, or leave it out for all at once`},
		{"train --fanout 5,5", `--fanout 5,5: neighbours are drawn for batches: give --batch too, such as --batch 1024`},
		{"train --batch 9 --fanout 5", `--fanout 5: numbers given: 1, layers: 2; give one for each layer`},
		{"train --batch 9 --fanout 5,4,3", `--fanout 5,4,3: numbers given: 3, layers: 2; give one for each layer`},
		{"train --batch 9 --fanout 5,-1", `--fanout 5,-1: "-1" is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all`},
		{"train --batch 9 --fanout ten,5", `--fanout ten,5: "ten" is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all`},
		{"train --batch 9 --fanout=", `--fanout : "" is no number of neighbours: give one for each layer, the first layer's first, such as 15,10, and all for all`},
		{"train --model monet --fanout 5,5 --batch 8", `--fanout 5,5: a layer of monet reads the degrees of the whole graph: leave it out`},
		{"train --model supergat --fanout 5", `--fanout 5: a layer of supergat learns from edges and pairs of the whole graph: leave it out`},
		{"train --model appnp --fanout 5", `--fanout 5: a layer of appnp looks several hops far and a batch holds one hop a layer: leave it out`},
		{"train --rows all --batch 5", `--rows all and --batch 5: a batch is always computed from the rows that it needs: leave --rows out`},
		{"train --rows some", `--rows some: there is no such name; the choices are needed, all`},
		{"train --model h2gcn --residual", `--residual: h2gcn has no such setting; these models have it: ` + node.Having("residual")},
		{"train --model gcn --heads 2", `--heads: gcn has no such setting; these models have it: ` + node.Having("heads")},
		{"train --model gcn --out-heads 2", `--out-heads: gcn has no such setting; these models have it: ` + node.Having("out-heads")},
		{"train --norm group", "--norm group: there is no such name; the choices are layer, batch"},
		{"train --input -3", "--input -3: it must be at least 0"},
		{"train --input 70000", "--input 70000: a layer has at most 65536 columns"},
		{"table --suite tunde", `--suite tunde: there is no such name; did you mean "tuned"? The choices are tuned`},
		{"table --suite tuned --datasets cora", "--suite tuned and --datasets: a suite has the settings of a published table: leave one of the two flags out"},
		{"table --suite tuned --models gin", "--model gin: the suite tuned has gcn, gat and sage"},
		{"train --model gcn2 --norm layer", `--norm: gcn2 has no such setting; these models have it: ` + node.Having("norm")},
		{"train --model gcn --attention a.csv", `--attention: gcn has no such setting; these models have it: ` + node.Having("attention")},
		{"train --attention a.txt", `--attention a.txt: its name must end in .csv, .svg or .png`},
		{"train --nodes 3", `--nodes: they are for --attention FILE`},
		{"train --attention a.png --layers 13", `--attention a.png: a picture holds 12 layers at most, and --layers is 13; a .csv file holds any number`},
		{"train --attention a.svg --nodes 0,1,2,3,4,5,6,7,8,9,10,11,12", `--attention a.svg: a picture holds 12 nodes at most, and --nodes names 13`},
		{"table --datasets karate --seeds 1", `--dataset karate: it has no whole split of its own, as published figures are of: use --splits 60/20/20`},
		{"table --splits nowhere.json", `--splits nowhere.json: there is no such file; write own, 60/20/20, random, shchur, folds:5, time, column:NAME, or the name of a .json or .npz file of the lists train, val and test`},
		{"train --nodes 9999 --attention " + dir + "/a.csv", `--nodes: number 1 of the list is 9999; Cora has the nodes 0 to 2707`},
		{"train --every 5", `--every 5: it needs --checkpoint FILE`},
		{"train --every=-1 --checkpoint c", `--every -1: it must be at least 1, or 0 for only at the end`},
		{"train --log out", `--log out: write tensorboard:DIR`},
		{"train --log tensorboard:", `--log tensorboard:: write tensorboard:DIR`},
		{"train --picture p.gif", `--picture p.gif: its name must end in .svg or .png`},
		{"train --csv " + dir, `--out ` + dir + `: it is a folder; name a file`},
		{"train --csv " + dir + "/no/x", `--out ` + dir + `/no/x: there is no folder ` + dir + `/no to put it in`},
		{"train --save x --checkpoint x", `--checkpoint x: --save has that name too`},
		{"train --seeds 2 --picture p.png", `--picture keeps one model and --seeds 2 trains 2: leave one of the two flags out`},
		{"train --seeds 2 --attention a.csv", `--attention keeps one model and --seeds 2 trains 2: leave one of the two flags out`},
		{"train --seeds 2 --checkpoint c", `--checkpoint keeps one model and --seeds 2 trains 2: leave one of the two flags out`},
		{"train --splits rnadom", `--splits rnadom: there is no such file; did you mean "random"? Write own, 60/20/20, random, shchur, folds:5, time, column:NAME, or the name of a .json or .npz file of the lists train, val and test`},
		{"eval", `expected "<file>": a model, which gatbench train DATA --save FILE writes; gatbench eval --help lists what it takes`},
		{"eval x --threads=-1", `--threads -1: it must be at least 1, or 0 for all processors`},
		{"predict x --out " + dir, `--out ` + dir + `: it is a folder; name a file`},
		{"table --seeds 0", `--seeds 0: it must be at least 1`},
		{"table --threads=-1", `--threads -1: it must be at least 1, or 0 for all processors`},
		{"table --models gat,lstm", `--model lstm: there is no such name; the choices are ` + strings.Join(models.Names(), ", ")},
		{"table --datasets corra", `there is no dataset "corra"; did you mean "cora"? There are: amazon_computers, amazon_photo, chameleon_filtered, citeseer, coauthor_cs, coauthor_physics, cora, cora_linqs, cora_ml, facebook, karate, minesweeper, pubmed, texas`},
		{"table --preset x", `--preset x: there is no such name; the choices are quick, paper, dgl, pyg, shchur, graphsaint, tuned, deep`},
		{"table --start normal", `--start normal: there is no such name; the choices are glorot, glorot-heads, xavier-normal`},
		{"table --models gcn,mlp --start glorot", `--start: it is for gat, and --model gcn,mlp has none of these`},
		{"table --models sage --no-value-drop", `--value-drop: it is for gat, and --model sage has none of these`},
		{"table --models gat --no-bias", `--no-bias: it is for gcn, mlp, and --model gat has none of these`},
		{"table --decayed none", `--decayed none: there is no such name; the choices are all, weights, first-weights`},
		{"table --resume " + dir, `--resume ` + dir + `: it is a folder; name a file`},
		{"table --resume " + dir + "/no/x", `--resume ` + dir + `/no/x: there is no folder ` + dir + `/no to put it in`},
		{"table --epochs 0", `--epochs 0: it must be at least 1`},
	}
	for _, tt := range tests {
		stdout, stderr, status := tasktest.Gatbench(t, strings.Fields(tt.args)...)
		if want := "gatbench: " + tt.want + "\n"; stderr != want || stdout != "" || status != cli.Misused {
			t.Errorf("gatbench %s: status %d, output %q, error\n%swant status 2 and\n%s", tt.args, status, stdout, stderr, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"train", "--help"}, {"bench", "--help"}, {"version", "-h"}, {"eval", "-h"}, {"predict", "-h"}, {"table", "-h"}} {
		stdout, stderr, status := tasktest.Gatbench(t, args...)
		if status != cli.Succeeded || stderr != "" || !strings.HasPrefix(stdout, "Usage: gatbench") {
			t.Errorf("%q: status %d, error %q, output %q", args, status, stderr, stdout)
		}
	}
}

// Datasets that a network cannot be trained on are named as on the command line.
func TestUnfitDataset(t *testing.T) {
	dir := t.TempDir()
	friends, err := os.Create(filepath.Join(dir, "facebook_combined.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	papers, err := os.Create(filepath.Join(dir, "cora.zip"))
	if err != nil {
		t.Fatal(err)
	}
	text, archive := gzip.NewWriter(friends), zip.NewWriter(papers)
	_, err = text.Write([]byte("0 1\n1 2\n"))
	for name, s := range map[string]string{"cora.content": "1 0 1 A\n2 1 0 B\n", "cora.cites": "1 2\n"} {
		w, e := archive.Create(name)
		if e == nil {
			_, e = w.Write([]byte(s))
		}
		err = errors.Join(err, e)
	}
	if err := errors.Join(err, text.Close(), archive.Close(), friends.Close(), papers.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"few_nodes.csv": "id,label\na,x\nb,y\n", "few_edges.csv": "source,target\na,b\n",
		"one_nodes.csv": "id,label\na,x\nb,x\n", "one_edges.csv": "source,target\na,b\n", "one.jsonl": `{"nodes": 1, "label": "x"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	bare := "../../examples/tables/customers_edges.csv"
	few, one := filepath.Join(dir, "few_edges.csv"), filepath.Join(dir, "one")
	for args, want := range map[string]string{
		"train --splits random --dataset " + few:        "--dataset " + few + ": --splits random leaves no nodes to train on or to choose the best epoch by: too few of its nodes have classes",
		"train --dataset " + one + "_edges.csv":         "--dataset " + one + "_edges.csv: all its nodes are of one class, so there is nothing to learn: column \"label\" says \"x\" wherever it is not empty. Name another column with --label COLUMN",
		"train --dataset " + one + ".jsonl":             "--dataset " + one + ".jsonl: all its graphs are of one class, so there is nothing to learn",
		"train --column churned=none --dataset " + bare: "--dataset " + bare + ": its nodes have no classes, labels or numbers to predict: name the column to predict with --label COLUMN, such as --label town or --label plan, or predict missing links with --task link",
		"train --dataset facebook --splits random":      "--dataset facebook: its nodes have no classes, labels or numbers to predict",
		"train --dataset cora_linqs":                    "--dataset cora_linqs: too few nodes to be divided: something to learn is known of 2",
	} {
		stdout, stderr, status := tasktest.Gatbench(t, append(strings.Fields(args), "--data", dir)...)
		if stderr != "gatbench: "+want+"\n" || status != cli.Misused {
			t.Errorf("gatbench %s: status %d, error %q, want %q", args, status, stderr, want)
		}
		if unlabelled := strings.Contains(want, "name the column to predict with"); unlabelled != strings.HasPrefix(stdout, "found: ") {
			t.Errorf("gatbench %s: it found %q", args, stdout) // whoever is to name a column sees them
		}
	}
}

// A dataset that is not there is not a wrong command line.
func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EDGEWISE_DATA", "")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	_, stderr, status := tasktest.Gatbench(t, "train", "--dataset", "pubmed", "--data", dir)
	if status != cli.Failed || !strings.HasPrefix(stderr, "gatbench: ") || !strings.Contains(stderr, dir) {
		t.Errorf("status %d, error %q", status, stderr)
	}
}

func TestVersion(t *testing.T) {
	stdout, _, status := tasktest.Gatbench(t, "version")
	if status != cli.Succeeded || !strings.HasPrefix(stdout, "edgewise ") || !strings.Contains(stdout, "\nkernels: ") {
		t.Errorf("status %d, output %q", status, stdout)
	}
	stdout, _, status = tasktest.Gatbench(t, "version", "--json")
	var b build
	if err := json.Unmarshal([]byte(stdout), &b); err != nil || status != cli.Succeeded || b != thisBuild() {
		t.Errorf("status %d, %v, output %q", status, err, stdout)
	}
	if flag, _, status := tasktest.Gatbench(t, "--version", "--json"); flag != stdout || status != cli.Succeeded {
		t.Errorf("--version: status %d, output %q, want %q", status, flag, stdout)
	}
	tagged := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}
	for _, tt := range []struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{{"v0.2.0", tagged, "v0.2.0"}, {"", tagged, "v0.1.0"}, {"", &debug.BuildInfo{}, "(devel)"}, {"", nil, "(devel)"}} {
		if got := versionOf(tt.release, tt.info); got != tt.want {
			t.Errorf("release %q, %v: version %s, want %s", tt.release, tt.info, got, tt.want)
		}
	}
}

func TestTrainForPeople(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cora.safetensors")
	stdout, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "2", "--save", file)
	if status != cli.Succeeded || stderr != "" {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	for _, want := range []string{"Cora: GAT, 8 heads of width 8, then 1 of width 7; 2708 nodes, 10556 edges\n", "\ntest          1000 ", " of 2, the one with the best validation accuracy (on a\ntie, the lowest validation loss)\n", "\nsaved to " + file + "\n", "\nnext: gatbench eval " + file + "\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the summary has no %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "\x1b") {
		t.Errorf("escape sequences in what is not a terminal: %q", stdout)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("nothing was saved: %v", err)
	}
}

func TestSeeds(t *testing.T) {
	stdout, stderr, status := tasktest.Gatbench(t, "train", "--epochs", "2", "--seed", "3", "--seeds", "2")
	if status != cli.Succeeded || stderr != "" {
		t.Fatalf("status %d, error %q", status, stderr)
	}
	for _, want := range []string{"seed 3 ", "\nseed 4 ", "\nCora: mean test accuracy ", " over 2 seeds, ", "\nnext: gatbench train --epochs 2 --save cora.safetensors\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the summary has no %q:\n%s", want, stdout)
		}
	}
}

// What is advised next has the preset of the run.
func TestAdviceHasPreset(t *testing.T) {
	stdout, _, status := tasktest.Gatbench(t, "train", "--preset", "dgl", "--model", "gcn", "--epochs", "1")
	if want := "\nnext: gatbench train --preset dgl --model gcn --epochs 1 --seeds 10\n"; status != cli.Succeeded || !strings.HasSuffix(stdout, want) {
		t.Errorf("status %d, no %q in\n%s", status, want, stdout)
	}
}

func TestJSON(t *testing.T) {
	args := []string{"train", "--json", "--epochs", "2", "--seed", "7", "--seeds", "2"}
	lines := tasktest.Results(t, args...)
	var events []string
	for _, o := range lines {
		events = append(events, o["event"].(string))
	}
	if got := strings.Join(events, " "); got != "epoch epoch summary epoch epoch summary seeds" {
		t.Fatalf("got the events %s", got)
	}
	if lines[2]["dataset"] != "cora" || lines[2]["seed"] != 7.0 || lines[5]["seed"] != 8.0 || lines[2]["epochs"] != 2.0 {
		t.Errorf("got the summaries %v and %v", lines[2], lines[5])
	}
	first, second := lines[2]["test_accuracy"].(float64), lines[5]["test_accuracy"].(float64)
	mean, std := report.MeanStd([]float64{first, second})
	if lines[6]["test_accuracy_mean"] != mean || lines[6]["test_accuracy_std"] != std {
		t.Errorf("got %v, want mean %v and std %v", lines[6], mean, std)
	}
	if lines[0]["loss"] == lines[3]["loss"] {
		t.Error("two seeds give one loss")
	}

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	again := tasktest.Results(t, append(args, "--threads", "2")...)
	for i := range lines {
		a, _ := json.Marshal(lines[i])
		b, _ := json.Marshal(again[i])
		if !bytes.Equal(a, b) {
			t.Errorf("line %d differs in a second run with two threads:\n%s\n%s", i, a, b)
		}
	}
}

// cancelling ends a context at the first write, or later.
type cancelling struct {
	bytes.Buffer
	cancel func()
	before int // writes
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.before--; c.before < 0 {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "best.safetensors")
	out, errOut := &cancelling{cancel: cancel}, new(bytes.Buffer)
	status := Run(cli.Env{Ctx: ctx, Out: out, ErrOut: errOut}, []string{"train", "--json", "--save", file})
	if status != cli.Failed || errOut.String() != "gatbench: interrupted after 1 of 200 epochs\n" {
		t.Errorf("status %d, error %q", status, errOut)
	}
	lines := tasktest.Objects(t, out.String())
	if len(lines) != 2 || lines[1]["interrupted"] != true || lines[1]["saved"] != file || lines[1]["best_epoch"] != 1.0 {
		t.Errorf("got %v", lines)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the best model is not saved: %v", err)
	}
}
