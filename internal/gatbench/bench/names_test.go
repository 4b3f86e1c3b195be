package bench

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func names(bs []Benchmark) string {
	var out []string
	for _, b := range bs {
		out = append(out, b.name)
	}
	return strings.Join(out, " ")
}

func TestNames(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		all, seen := All(Choice{Threads: threads}), map[string]bool{}
		for _, b := range all {
			if seen[b.name] {
				t.Errorf("%s stands twice for %d threads", b.name, threads)
			}
			seen[b.name] = true
			if got, err := Choose(all, b.name); err != nil || names(got) != b.name {
				t.Errorf("%s selects %q, %v", b.name, names(got), err)
			}
			if b.params["threads"] == nil || b.op == "" || b.lanes < 1 || b.prepare == nil && b.train == nil && b.open == nil {
				t.Errorf("%s is not complete: %+v", b.name, b)
			}
		}
		for _, want := range strings.Fields(`gemm/1024x1024x1024 gemm/2708x1433x64 gemm_ta/500x19717x64
			gemm_odd/2708x1433x7 gemm_odd/511x513x509
			gemm_packed/64x128x512 exp/2048 exp/1048576 dropout/1048576 par/forkjoin machine/fma/1 machine/copy/memory/1 machine/gather/memory/1
			copy_u_sum/grid/16 u_dot_v/reddit-small/128 gat_attention/proteins-small/8x8 copy_u_sum/arxiv/128 u_mul_e_sum/pubmed/8x8 u_dot_v/arxiv/8x8 edge_softmax/arxiv/8x8 gat_attention/arxiv/8x8
			message/arxiv/64 features/cora/64 layer/gat/arxiv/8x8 layer/gatv2/arxiv/8x8
			sequence/lstm/50x64x128x128 sequence/lstm/50x64x256x256x2 sequence/gru/30x80x620x1000x1x1 sequence/rnn/50x64x128x128
			sequence/lstm/100x1x128x128 sequence/ragged/lstm sequence/lstm/10000x1x128x128 sequence/truncated/10000x1x128x128/50 sequence/beam/5x64
			sequence/lstm_coupled/50x64x128x128 sequence/treelstm/drawn/25x150
			attention/mha/64x50x128x8 attention/encoder_layer/16x512x512x8 attention/encoder_layer/1x2048x512x8/nodropout attention/ragged/128x8
			attention/window/16384x128x64x8 attention/additive/64x50x50x256 attention/additive/64x50x50x256/steps attention/generate/1x128x256x8x4 layer/transformer/arxiv/8x8 layer/pna/arxiv/1x64 layer/edgeconv/arxiv/1x64 layer/rgcn/arxiv/1x64
			train/pubmed/gae walks/deepwalk/pubmed walks/node2vec/pubmed
			memory/ntm/lstm memory/hopfield/10000x500x64 memory/hopfield_async/10000x500x64 memory/modern/100000x256
			sample/batch/1000000x10000000 sample/batch/weighted/1000000x10000000 sample/step/1000000x10000000 sample/step/alone/1000000x10000000
			sample/step/gat/1000000x10000000 sample/step/deep/1000000x10000000 train/cora train/pubmed`) {
			if !seen[want] {
				t.Errorf("there is no %s", want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	all := All(Choice{Threads: 1})
	tests := []struct{ pattern, want string }{
		{"exp", "exp/2048 exp/1048576"},
		{"exp/", "exp/2048 exp/1048576"},
		{"exp/20*", "exp/2048"},
		{"[ed]*/1048576", "exp/1048576 dropout/1048576"},
		{"gemm/*x1024x1024", "gemm/1024x1024x1024 gemm/45000x1024x1024"},
		{"gemm_packed", "gemm_packed/64x128x512"},
		{"machine/copy", "machine/copy/l1/1 machine/copy/l2/1 machine/copy/l3/1 machine/copy/memory/1"},
		{"sddmm", "u_dot_v/pubmed/8x8 u_dot_v/arxiv/8x8"},
		{"", names(Listed(all))},
		{"copy_u_sum", "copy_u_sum/cora/64 copy_u_sum/pubmed/64 copy_u_sum/arxiv/64 copy_u_sum/arxiv/128 copy_u_sum/reddit-tenth/64"},
		{"copy_u_sum/grid", ""},
		{"copy_u_sum/grid/16", "copy_u_sum/grid/16"},
		{"*/*/64", strings.Join(slices.DeleteFunc(strings.Fields(names(Listed(all))), func(s string) bool { ok, _ := path.Match("*/*/64", s); return !ok }), " ")},
		{"gem", ""},
	}
	for _, tt := range tests {
		if got, err := Choose(all, tt.pattern); err != nil || names(got) != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.pattern, names(got), err, tt.want)
		}
	}
}

// A group has the kernels that its name says; no benchmark is called like one.
func TestGroups(t *testing.T) {
	all := All(Choice{Threads: 1})
	for _, b := range all {
		front, _, _ := strings.Cut(b.name, "/")
		if groups[front] != nil {
			t.Errorf("%s begins like a group", b.name)
		}
		for group, has := range map[string]bool{
			"kernels": strings.HasPrefix(b.op, "kernel/") && !b.unlisted, "sddmm": b.op == "kernel/u_dot_v" && !b.unlisted, Sparse: b.swept > 0,
			"spmm": !b.unlisted && strings.Contains(" kernel/copy_u_sum kernel/copy_u_mean kernel/u_mul_e_sum ", " "+b.op+" "),
		} {
			some, err := Choose(all, group)
			if err != nil || strings.Contains(" "+names(some)+" ", " "+b.name+" ") != has {
				t.Errorf("%s in %s: %v, want %v", b.name, group, !has, has)
			}
		}
	}
	for wrong, want := range map[string]string{"sprase": "sparse", "spm": "spmm", "sdmm": "sddmm"} {
		if got := Nearest(all, wrong); got != want {
			t.Errorf("%s: did you mean %s? want %s", wrong, got, want)
		}
	}
}

// The name of a file that is no pattern still selects itself.
func TestNamesWithBrackets(t *testing.T) {
	all := []Benchmark{{name: "copy_u_sum/a[b/64"}, {name: "copy_u_sum/c/64"}}
	if got, err := Choose(all, all[0].name); err != nil || names(got) != all[0].name {
		t.Errorf("%q, %v", names(got), err)
	}
	if _, err := Choose(all, "copy_u_sum/[c"); err == nil {
		t.Error("half a bracket is a pattern")
	}
}
