package usage

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Nodes returns how many NUMA nodes of this machine have processors, 0 if it is not known.
func Nodes() int { return nodesIn(os.DirFS("/sys/devices/system/node")) }

// nodesIn is Nodes of a folder that has one for each node.
func nodesIn(root fs.FS) (n int) {
	all, _ := fs.ReadDir(root, ".") // a machine without the folder does not say
	for _, e := range all {
		number, is := strings.CutPrefix(e.Name(), "node")
		if _, err := strconv.Atoi(number); !is || err != nil {
			continue
		}
		if cpus, err := fs.ReadFile(root, e.Name()+"/cpulist"); err == nil && strings.TrimSpace(string(cpus)) != "" {
			n++
		}
	}
	return n
}

// Processors returns how many processors of this machine are switched on, whether this process may use them or not; 0 if it is not known.
func Processors() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	return countIn(string(text))
}

// countIn returns how many numbers a list such as 0-3,8 has, 0 if it is no such list.
func countIn(list string) (n int) {
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(lo)
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(hi)
		}
		if err != nil {
			return 0
		}
		n += last - first + 1
	}
	return n
}
