package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edgewise-ml/edgewise/ranks"
)

// Ranks is what the ranks of a job spent on a training, on average over its epochs.
type Ranks struct {
	Event     string             `json:"event,omitempty"` // of one epoch: "ranks"
	Ranks     int                `json:"ranks"`
	Processes []string           `json:"processes"`       // of each rank, with its host
	Stages    map[string]float64 `json:"stages_ms"`       // of an epoch, the mean over the ranks
	Waiting   []float64          `json:"waiting"`         // the share of its time that each rank waited for others' gradients
	SentMiB   float64            `json:"sent_mib"`        // in an epoch by a rank, to all others
	Epoch     int                `json:"epoch,omitempty"` // of one epoch: its number
}

// Usage follows what the ranks of a team spend. A nil one follows nothing.
type Usage struct {
	team   *ranks.Team
	each   func(*Ranks) // is given each epoch
	epochs int
	totals []ranks.Usage
}

// NewUsage returns what follows a team from now on, nil if the process is alone. each is called with what an epoch took; it may be nil.
func NewUsage(team *ranks.Team, each func(*Ranks)) *Usage {
	if team.Size() == 1 {
		return nil
	}
	_, _ = team.Report() // what came before is of no training; an error is the next exchange's, too
	return &Usage{team: team, each: each, totals: make([]ranks.Usage, team.Size())}
}

// EpochIsOver is called by every rank at the end of an epoch.
func (u *Usage) EpochIsOver(n int) {
	if u == nil {
		return
	}
	now, err := u.team.Report()
	if err != nil || now == nil { // an error is the next exchange's, too; nil: this is another rank than the first
		return
	}
	u.epochs++
	for i, one := range now {
		if u.totals[i].Stages == nil {
			u.totals[i].Stages = map[string]time.Duration{}
		}
		for stage, d := range one.Stages {
			u.totals[i].Stages[stage] += d
		}
		u.totals[i].Sent += one.Sent
	}
	if u.each != nil {
		r := u.of(now, 1)
		r.Event, r.Epoch = "ranks", n
		u.each(r)
	}
}

// All is what the training took; nil if nobody followed it, or it had no epoch.
func (u *Usage) All() *Ranks {
	if u == nil || u.epochs == 0 {
		return nil
	}
	return u.of(u.totals, u.epochs)
}

// of is what so many epochs took.
func (u *Usage) of(all []ranks.Usage, epochs int) *Ranks {
	n := float64(len(all) * epochs)
	r := &Ranks{Ranks: len(all), Stages: map[string]float64{}}
	for i, one := range all {
		total, waited := time.Duration(0), time.Duration(0)
		for stage, d := range one.Stages {
			r.Stages[stage] += Milliseconds(d) / n
			if total += d; strings.HasPrefix(stage, ranks.Waiting) && stage != ranks.Waiting+"evaluation" {
				waited += d
			}
		}
		r.Processes = append(r.Processes, u.team.Name(i))
		r.Waiting = append(r.Waiting, float64(waited)/float64(max(1, total)))
		r.SentMiB += float64(one.Sent) / (1 << 20) / n
	}
	return r
}

// Says says it in a sentence.
func (r *Ranks) Says() string {
	total := 0.0
	for _, ms := range r.Stages {
		total += ms
	}
	names := slices.SortedFunc(maps.Keys(r.Stages), func(a, b string) int { return int(r.Stages[b]*1000) - int(r.Stages[a]*1000) })
	var parts []string
	for _, name := range names {
		if share := r.Stages[name] / total; share >= 0.0005 {
			parts = append(parts, fmt.Sprintf("%s %.1f %%", name, 100*share))
		}
	}
	return fmt.Sprintf("%d ranks; time of an epoch: %s; a rank waited for gradients %.1f to %.1f %% of its time and sent %.2f MiB an epoch",
		r.Ranks, strings.Join(parts, ", "), 100*slices.Min(r.Waiting), 100*slices.Max(r.Waiting), r.SentMiB)
}
