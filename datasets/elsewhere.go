package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// publisher is who publishes datasets that this package reads from files and knows neither by name
// nor by a checksum.
type publisher struct {
	who   string
	names []string // as they are published
	front string   // of all names; without, names are all that are meant
	put   string   // which files go where: NAME is the dataset's name
	use   string   // the command that trains on them then
}

// publishers is all of them. A name may be written with - or _, and in any case.
var publishers = []publisher{
	{"TUDataset (chrsmrrs.github.io/datasets)", tuNames, "",
		"put NAME.zip as it is, or the folder NAME of NAME_A.txt, NAME_graph_indicator.txt, NAME_graph_labels.txt and so on, into DIR or DIR/tudataset",
		"train --task graph --dataset NAME --data DIR"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbn-",
		"its zip as it is, or the folder with raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/node-label.csv.gz and split/ in it, is read wherever it lies (ogbn-mag and ogbn-papers100M have other forms, which are not read)",
		"train --dataset FOLDER-OR-ZIP; FOLDER-OR-ZIP#undirected takes both directions of its edges"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbg-",
		"its zip as it is, or the folder with raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/graph-label.csv.gz and split/ in it, is read wherever it lies",
		"train --task graph --dataset FOLDER-OR-ZIP"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbl-",
		"its raw/edge.csv.gz is read as a list of edges; its split, which is in files of PyTorch, is not",
		"train --task link --dataset edge.csv.gz, which divides the edges anew"},
	{"Platonov and others (github.com/yandex-research/heterophilous-graphs, folder data)", []string{"roman-empire", "amazon-ratings", "minesweeper", "tolokers", "questions"}, "",
		"its .npz, which holds ten splits, is read wherever it lies",
		"train --dataset FILE.npz --split-number each --seeds 10"},
	{"MUSAE (github.com/benedekrozemberczki/MUSAE and snap.stanford.edu)", []string{"musae", "musae-facebook", "musae-git", "musae-wiki", "github", "twitch", "twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-pt", "twitch-ru", "crocodile"}, "",
		"the files whose names end in _edges.csv, _target.csv and _features.json, as they are published, are read from the folder that they lie in",
		"train --dataset FOLDER"},
	{"MUSAE (github.com/benedekrozemberczki/MUSAE), and with ten splits Geom-GCN (github.com/graphdml-uiuc-jlu/geom-gcn, folders new_data and splits)", []string{"chameleon", "squirrel"}, "",
		"the folder NAME of out1_graph_edges.txt and out1_node_feature_label.txt, with the folder splits beside it, or MUSAE's csv and json files are read wherever they lie",
		"train --dataset FOLDER"},
	{geomHome, []string{"cornell", "wisconsin", "film", "actor"}, "",
		"the folder of out1_graph_edges.txt and out1_node_feature_label.txt (of actor film), with the folder splits beside it or beside new_data, is read wherever it lies",
		"train --dataset FOLDER --split-number each --seeds 10"},
	{"the authors of R-GCN, ConvE and others, as train.txt, valid.txt and test.txt", []string{"FB15k", "FB15k-237", "WN18", "WN18RR", "YAGO3-10"}, "",
		"a folder of these three files, with head, relation and tail a line, is read wherever it lies",
		"train --task link --model rotate --dataset FOLDER"},
}

// tuNames are datasets of TUDataset.
var tuNames = strings.Fields(`AIDS alchemy_full aspirin benzene BZR BZR_MD COX2 COX2_MD DHFR DHFR_MD ER_MD ethanol FRANKENSTEIN
	malonaldehyde MCF-7 MCF-7H MOLT-4 MOLT-4H Mutagenicity MUTAG naphthalene NCI1 NCI109 NCI-H23 NCI-H23H OVCAR-8 OVCAR-8H P388 P388H PC-3
	PC-3H PTC_FM PTC_FR PTC_MM PTC_MR QM9 salicylic_acid SF-295 SF-295H SN12C SN12CH SW-620 SW-620H toluene UACC257 UACC257H uracil Yeast
	YeastH ZINC_full ZINC_test ZINC_train ZINC_val DD ENZYMES KKI OHSU Peking_1 PROTEINS PROTEINS_full COIL-DEL COIL-RAG Cuneiform
	Fingerprint FIRSTMM_DB Letter-high Letter-low Letter-med MSRC_9 MSRC_21 MSRC_21C COLLAB DBLP_v1 deezer_ego_nets github_stargazers
	IMDB-BINARY IMDB-MULTI reddit_threads REDDIT-BINARY REDDIT-MULTI-5K REDDIT-MULTI-12K twitch_egos TWITTER-Real-Graph-Partial COLORS-3
	SYNTHETIC SYNTHETICnew Synthie TRIANGLES`)

// elsewhere says what a dataset is that others publish, and how to train on it; "" of a name that is
// no such dataset's.
func elsewhere(name string) string {
	sought := spelled(name)
	for _, p := range publishers {
		i := slices.IndexFunc(p.names, func(n string) bool { return spelled(n) == sought })
		switch {
		case i >= 0:
			name = p.names[i]
		case p.front == "" || !strings.HasPrefix(sought, p.front) || len(sought) > 40:
			continue
		}
		named := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
		return fmt.Sprintf("%s is published by %s; there is no checksum of it here, so nothing downloads it: get it from there, %s; then gatbench %s", name, p.who, named(p.put), named(p.use))
	}
	return ""
}

// spelled is how names are compared.
func spelled(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }
