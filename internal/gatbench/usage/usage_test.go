package usage

import (
	"testing"
)

func TestUsage(t *testing.T) {
	a := Usage{OK: true, busy: 100, all: 200, own: 50}
	b := Usage{OK: true, busy: 190, all: 300, own: 120}
	if got := a.Others(b); got == nil || *got != 20 {
		t.Errorf("others used %v", got)
	}
	if a.Others(a) != nil || a.Others(Usage{}) != nil {
		t.Error("a share of nothing is known")
	}
	if u := Now(); u.OK && !(u.PeakMiB > 1 && u.all > u.busy && u.SinceStart > -1) {
		t.Errorf("got %+v", u)
	}
}
