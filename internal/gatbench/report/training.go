package report

import (
	"fmt"
	"math"
	"strings"
)

// Training is the page about one training: its summary, and what its command knows.
type Training struct {
	Summary
	Title    string // the dataset, the model and their sizes
	Settings string // whose they are, and why
	Batching string // how steps are cut; empty: into one
	Split    string // which of several, or what was decided about it; empty: there is one
	Nodes    [3]int // that train, validate and test
	What     string // these are; empty: nodes
	Learns   string // what is learnt, in lines; empty: classes
	Network  string // the model's name for people
	Chosen   string // how the epoch was chosen
	Longer   string // what to try if the training ended too early; empty: it did not
	Rescale  string // what to try if features are of different scales; empty: they are not
	Drawn    string // what heads attend to, in lines as they stand; empty: nobody asked
	Next     string // the command to try next
}

// Print prints the page.
func (t *Training) Print(p *Printer) {
	s := &t.Summary
	p.Line("%s", t.Title)
	p.Paragraph("%s", t.Settings)
	for line := range strings.Lines(t.Learns) {
		p.Paragraph("%s", strings.TrimSuffix(line, "\n"))
	}
	if t.Batching != "" {
		p.Paragraph("%s", t.Batching)
	}
	p.Printf("\n")
	if t.Split != "" {
		p.Paragraph("%s", t.Split)
		p.Printf("\n")
	}
	what := t.What
	if what == "" {
		what = "nodes"
	}
	p.Printf("%-10s  %6s  %s\n", "", what, s.Metric.Name())
	p.Printf("%-10s  %6d   %s\n", "train", t.Nodes[0], s.Metric.Shown(float64(s.TrainAccuracy)))
	p.Printf("%-10s  %6d   %s\n", "validation", t.Nodes[1], s.Metric.Shown(float64(s.ValAccuracy)))
	p.Printf("%-10s  %6d   %s\n", "test", t.Nodes[2], s.Metric.Shown(float64(s.TestAccuracy)))
	score := float64(s.TestAccuracy)
	if s.Metric.Says != "" || s.Verdict != "" {
		score = math.NaN() // which is compared with no accuracy
	}
	if line := s.Metrics.Line(score); line != "" {
		p.Printf("\n")
		p.Paragraph("%s", line)
	}
	if s.Verdict != "" {
		p.Printf("\n")
		p.Paragraph("%s", s.Verdict)
	}
	if s.Weights != "" {
		p.Printf("\nedge weights: %s by %s\n", s.Weights, t.Network)
	}
	p.Printf("\n")
	p.Paragraph("kept the model of epoch %d of %d, %s", s.BestEpoch, s.Epochs, strings.Replace(t.Chosen, "accuracy", s.Metric.Name(), 1))
	if t.Longer != "" {
		p.Paragraph("%s", t.Longer)
	}
	if t.Rescale != "" {
		p.Paragraph("%s", t.Rescale)
	}
	t.end(p)
}

// end prints what it cost, what was written, and what to do next.
func (t *Training) end(p *Printer) {
	s := &t.Summary
	p.Drawn(t.Drawn)
	cost := "no epochs were left to train"
	if s.EpochMS > 0 {
		cost = fmt.Sprintf("%.2f ms per epoch (median)", s.EpochMS)
	}
	cost += fmt.Sprintf(", %.2f s in all", s.TotalMS/1000)
	if s.PeakMiB > 0 {
		cost += fmt.Sprintf(", %.0f MiB peak memory", s.PeakMiB)
	}
	p.Line("%s", cost)
	if s.Ranks != nil {
		p.Paragraph("%s", s.Ranks.Says())
	}
	s.Ends(p, t.Next)
}

// Ends ends a page with the files that were written and the command to try next.
func (s *Summary) Ends(p *Printer, next string) {
	for _, f := range []struct{ what, path string }{
		{"saved to", s.Saved}, {"checkpoint in", s.Checkpoint}, {"epochs in", s.CSV}, {"pictures in", s.Picture},
		{"attention in", s.Attention}, {"log in", s.Log},
	} {
		if f.path != "" {
			p.Printf("%s %s\n", f.what, f.path)
		}
	}
	if !s.Interrupted {
		p.Next(next)
	}
}

// Line prints one of several trainings in a line.
func (s *Summary) Line(p *Printer) {
	p.Printf("seed %-3d epoch %-5d train %s  validation %s  test %s  %.2f s\n",
		s.Seed, s.BestEpoch, s.Metric.Shown(float64(s.TrainAccuracy)), s.Metric.Shown(float64(s.ValAccuracy)), s.Metric.Shown(float64(s.TestAccuracy)), s.TotalMS/1000)
}

// Print prints what trainings on a dataset of that title have in common, and the
// command to try next.
func (o *Overall) Print(p *Printer, title, next string) {
	if o.Metric.Says != "" {
		p.Printf("\n")
		p.Line("%s: mean test %s "+p.Strong("%.4f ± %.4f")+" (standard deviation) over %d seeds, %.2f s in all", title,
			o.Metric.Says, o.Mean, o.Std, o.Seeds, o.TotalMS/1000)
	} else {
		p.Printf("\n")
		p.Line("%s: mean test accuracy "+p.Strong("%.1f ± %.1f %%")+" (standard deviation) over %d seeds, %.2f s in all", title,
			100*o.Mean, 100*o.Std, o.Seeds, o.TotalMS/1000)
	}
	if also := o.also(); also != "" {
		p.Printf("test: %s\n", also)
	}
	p.Next(next)
}

// Longer says what to try if a training of at most so many epochs ended too early:
// while it still got better, which is in the last twentieth of its epochs, or before it
// began to. A rule that always takes the last epoch says nothing of that, and all right
// cannot be better.
func (s *Summary) Longer(epochs, patience int) string {
	switch stopped := s.Epochs < epochs; {
	case s.Select == "last" || s.ValAccuracy == 1 || s.Interrupted || s.Diverged:
	case !stopped && s.BestEpoch >= s.Epochs-s.Epochs/20:
		return fmt.Sprintf("the best epoch is one of the last, so longer training may help: try --epochs %d", 5*epochs)
	case stopped && s.BestEpoch <= 1+s.Epochs/50:
		return fmt.Sprintf("the best epoch is one of the first, so training may have stopped before the model began to learn: try --patience %d", 4*patience)
	}
	return ""
}
