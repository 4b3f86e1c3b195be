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
