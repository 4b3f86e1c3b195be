package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// Source is a file that a dataset is made of, where it is published, and how it
// is known to be whole.
type Source struct {
	Name   string // of the file
	URL    string
	Size   int64  // bytes
	SHA256 string // in hexadecimal
}

// planetoidHome is where the files of Planetoid are published.
const planetoidHome = "https://github.com/kimiyoung/planetoid/raw/master/data/"

// planetoidFiles is what has been published since 2016.
var planetoidFiles = []struct {
	dataset, part string
	size          int64
	sha256        string
}{
	{"citeseer", "allx", 595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
	{"citeseer", "ally", 55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
	{"citeseer", "graph", 61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
	{"citeseer", "test.index", 5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
	{"citeseer", "tx", 260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
	{"citeseer", "ty", 24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
	{"citeseer", "x", 31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
	{"citeseer", "y", 3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
	{"cora", "allx", 257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
	{"cora", "ally", 47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
	{"cora", "graph", 59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
	{"cora", "test.index", 5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
	{"cora", "tx", 148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
	{"cora", "ty", 28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
	{"cora", "x", 22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
	{"cora", "y", 4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
	{"pubmed", "allx", 7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
	{"pubmed", "ally", 224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
	{"pubmed", "graph", 471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
	{"pubmed", "test.index", 6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
	{"pubmed", "tx", 405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
	{"pubmed", "ty", 12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
	{"pubmed", "x", 23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
	{"pubmed", "y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
}

// Sources returns the published files of a dataset, nil if it has none that are
// known. They go into a folder of which [Find] knows.
func Sources(name string) []Source {
	var list []Source
	for _, f := range planetoidFiles {
		if strings.EqualFold(f.dataset, name) {
			file := "ind." + f.dataset + "." + f.part
			list = append(list, Source{file, planetoidHome + file, f.size, f.sha256})
		}
	}
	return list
}

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
		"train NAME --data DIR"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbn-",
		"its zip as it is, or the folder with raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/node-label.csv.gz and split/ in it, is read wherever it lies (ogbn-mag and ogbn-papers100M have other forms, which are not read)",
		"train FOLDER-OR-ZIP; with --undirected it takes both directions of its edges"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbg-",
		"its zip as it is, or the folder with raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/graph-label.csv.gz and split/ in it, is read wherever it lies",
		"train FOLDER-OR-ZIP"},
	{"the Open Graph Benchmark (ogb.stanford.edu)", nil, "ogbl-",
		"its raw/edge.csv.gz is read as a list of edges; its split, which is in files of PyTorch, is not",
		"train edge.csv.gz --task link, which divides the edges anew"},
	{"Platonov and others (github.com/yandex-research/heterophilous-graphs, folder data)", []string{"roman-empire", "amazon-ratings", "minesweeper", "tolokers", "questions"}, "",
		"its .npz, which holds ten splits, is read wherever it lies",
		"train FILE.npz --split-number each --seeds 10"},
	{"MUSAE (github.com/benedekrozemberczki/MUSAE and snap.stanford.edu)", []string{"musae", "musae-facebook", "musae-git", "musae-wiki", "github", "twitch", "twitch-de", "twitch-en", "twitch-es", "twitch-fr", "twitch-pt", "twitch-ru", "crocodile"}, "",
		"the files whose names end in _edges.csv, _target.csv and _features.json, as they are published, are read from the folder that they lie in",
		"train FOLDER"},
	{"MUSAE (github.com/benedekrozemberczki/MUSAE), and with ten splits Geom-GCN (github.com/graphdml-uiuc-jlu/geom-gcn, folders new_data and splits)", []string{"chameleon", "squirrel"}, "",
		"the folder NAME of out1_graph_edges.txt and out1_node_feature_label.txt, with the folder splits beside it, or MUSAE's csv and json files are read wherever they lie",
		"train FOLDER"},
	{geomHome, []string{"cornell", "wisconsin", "film", "actor"}, "",
		"the folder of out1_graph_edges.txt and out1_node_feature_label.txt (of actor film), with the folder splits beside it or beside new_data, is read wherever it lies",
		"train FOLDER --split-number each --seeds 10"},
	{"the authors of R-GCN, ConvE and others, as train.txt, valid.txt and test.txt", []string{"FB15k", "FB15k-237", "WN18", "WN18RR", "YAGO3-10"}, "",
		"a folder of these three files, with head, relation and tail a line, is read wherever it lies",
		"train FOLDER --task link"},
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
