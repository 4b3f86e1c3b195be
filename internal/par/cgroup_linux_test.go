package par

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestQuota(t *testing.T) {
	for name, want := range map[string]float64{
		"v2":          1.5, // of the group around ours, which has none
		"v2container": 0.5,
		"v2unlimited": 0,
		"v1":          2.5, // ours, less than the one around it
		"v1container": 2,   // the mount shows our group alone; a blank in its path
		"missing":     0,
	} {
		if got := quotaIn(os.DirFS("testdata/" + name)); got != want {
			t.Errorf("%s: quota is %g, want %g", name, got, want)
		}
	}
}

// What cannot be understood is no limit, and never a panic.
func TestQuotaOfDamagedFiles(t *testing.T) {
	const group, mount = "0::/a\n", "31 23 0:28 / /g rw - cgroup2 cgroup2 rw\n"
	for _, tt := range []struct {
		name, group, mount, max string
		want                    float64
	}{
		{"sound", group, mount, "300000 100000\n", 3},
		{"no group", "", mount, "300000 100000\n", 0},
		{"no mount", group, "", "300000 100000\n", 0},
		{"short mount", group, "31 23 / - cgroup2\n", "300000 100000\n", 0},
		{"no number", group, mount, "x 100000\n", 0},
		{"period 0", group, mount, "300000 0\n", 0},
		{"negative", group, mount, "-5 100000\n", 0},
		{"huge", group, mount, "99999999999999999999 100000\n", 0},
		{"empty", group, mount, "", 0},
		{"group out of sight", "0::/../../b\n", mount, "300000 100000\n", 0},
		{"escape cut short", group, "31 23 0:28 / /g\\0 rw - cgroup2 cgroup2 rw\n", "300000 100000\n", 0},
	} {
		root := fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte(tt.group)},
			"proc/self/mountinfo": {Data: []byte(tt.mount)},
			"g/a/cpu.max":         {Data: []byte(tt.max)},
		}
		if got := quotaIn(root); got != tt.want {
			t.Errorf("%s: quota is %g, want %g", tt.name, got, tt.want)
		}
	}
}

func TestAffinity(t *testing.T) {
	if n := affinity(); n < 1 {
		t.Errorf("the process may run on %d processors", n)
	}
}
