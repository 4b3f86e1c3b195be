package writing

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/text"
	"github.com/edgewise-ml/edgewise/internal/gatbench/demo/stage"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/layers/attention"
)

// account is what a demo says to programs: an object an epoch, and one of its result.
type account struct {
	epochs []map[string]any
	result map[string]any
}

// number is that of an epoch, from 1 on.
func (d account) number(epoch int, name string) float64 {
	v, ok := d.epochs[epoch-1][name].(float64)
	if !ok {
		return math.NaN()
	}
	return v
}

// long runs a demo for so many epochs, 0 for its own number, with a seed of 1. It skips unless long
// tests are asked for.
func long(t *testing.T, d stage.Demo, epochs int) account {
	t.Helper()
	if os.Getenv("EDGEWISE_LONG") == "" {
		t.Skip("learns for minutes: set EDGEWISE_LONG=1")
	}
	if _, err := text.Find("", d.Data); err != nil && d.Data != "" {
		t.Skip(err)
	}
	var said bytes.Buffer
	s := &stage.Stage{Ctx: t.Context(), Out: report.NewPrinter(&said), Progress: report.NewProgress(io.Discard), JSON: true, Seed: 1, Epochs: epochs}
	if err := s.Show(d); err != nil {
		t.Fatal(err)
	}
	var out account
	for lines := json.NewDecoder(&said); ; {
		line := map[string]any{}
		if err := lines.Decode(&line); err == io.EOF {
			t.Logf("%s: %v %v", d.Name, out.epochs, out.result)
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		switch line["event"] {
		case "epoch":
			out.epochs = append(out.epochs, line)
		case "result":
			out.result = line
		}
	}
}

// After three epochs attention is worth three points of BLEU; after five it is good enough, and
// looks near the diagonal, which nobody account it to. Luong's order is no worse.
func TestCaptionsAlign(t *testing.T) {
	search, blind, after := long(t, Translate, 5), long(t, Multi30k, 3), long(t, Luong, 5)
	if with, without := search.number(3, "test_bleu"), blind.number(3, "test_bleu"); !(with >= without+3) {
		t.Errorf("after three epochs BLEU is %.1f with attention, %.1f without", with, without)
	}
	for name, c := range map[string]struct {
		of   account
		bleu float64
	}{"translate": {search, 18}, "luong": {after, search.number(5, "test_bleu") - 2}} {
		bleu, perplexity, diagonal := c.of.result["test_bleu"].(float64), c.of.result["test_perplexity"].(float64), c.of.result["diagonal"].(float64)
		if !(bleu >= c.bleu) || !(perplexity <= 11) || !(diagonal >= 0.5) {
			t.Errorf("%s: BLEU %.1f, want %.1f; perplexity %.2f, want 11 at most; %.2f of the attention is near the diagonal, want half", name, bleu, c.bleu, perplexity, diagonal)
		}
	}
}

// In RNNsearch the scores with a matrix and those with a network, each plain and with a length that
// is learnt, come to the same loss in the same steps. At a higher rate and in Luong's order a plain
// matrix stays behind; one whose length begins at 1/√128 makes up most of that.
func TestScoresLearnCaptions(t *testing.T) {
	additive, general := attention.Additive{Key: 256, Query: 128, Hidden: 128}, attention.Bilinear{Key: 256, Query: 128}
	normed, scaled, lowered := additive, general, general
	normed.Normed, scaled.Scaled, lowered.Scaled, lowered.Begin = true, true, true, 1/math.Sqrt(128)
	search := func(s attention.Score) func(*translator) attending {
		return func(r *translator) attending { return searcher(r, s) }
	}
	look := func(s attention.Score) func(*translator) attending {
		return func(r *translator) attending { return looker(r, s) }
	}
	for _, c := range []struct {
		order string
		rate  float64
		nets  map[string]func(*translator) attending
	}{
		{"RNNsearch", 1e-3, map[string]func(*translator) attending{"additive": search(&additive), "normed": search(&normed), "general": search(&general), "scaled": search(&scaled)}},
		{"Luong", 3e-3, map[string]func(*translator) attending{"additive": look(&additive), "general": look(&general), "lowered": look(&lowered)}},
	} {
		losses := map[string]float64{}
		for name, net := range c.nets {
			losses[name] = long(t, stage.Demo{Name: c.order + ", " + name, Data: "multi30k", Act: stage.Func(func(s *stage.Stage) error { return translateTexts(s, stage.Files{}, c.rate, net, "") })}, 5).number(5, "loss")
		}
		behind := func(name string) float64 { return losses[name]/losses["additive"] - 1 }
		for name, loss := range losses {
			near := math.Abs(behind(name)) <= 0.1
			switch { // in Luong's order the lowered matrix makes up most of what the plain one lacks
			case c.order == "RNNsearch" && !near, name == "lowered" && behind(name) > behind("general")/2, c.order == "Luong" && name == "general" && near:
				t.Errorf("%s, %s: the loss is %.3f, of the additive score %.3f", c.order, name, loss, losses["additive"])
			}
		}
		if losses["normed"] > 1.02*losses["additive"] {
			t.Errorf("%s: a normed score is slower: its loss is %.3f, of the plain one %.3f", c.order, losses["normed"], losses["additive"])
		}
	}
}
