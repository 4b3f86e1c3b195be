package par

import (
	"io/fs"
	"math/bits"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// affinity returns how many processors this process may run on, 0 if that
// cannot be found out.
func affinity() int {
	for size := 1 << 7; size <= 1<<13; size <<= 1 { // the kernel's mask may be longer
		mask := make([]uint64, size/8)
		n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
			uintptr(os.Getpid()), uintptr(size), uintptr(unsafe.Pointer(&mask[0])))
		if errno == syscall.EINVAL {
			continue
		}
		if errno != 0 {
			break
		}
		count := 0
		for _, m := range mask[:(int(n)+7)/8] { // n bytes are written, the rest is 0
			count += bits.OnesCount64(m)
		}
		return count
	}
	return 0
}

// quota returns how many processors the control groups of this process allow
// it on average, 0 if there is no limit or it cannot be found out.
func quota() float64 { return quotaIn(os.DirFS("/")) }

// quotaIn is quota on a machine with the files of root.
func quotaIn(root fs.FS) float64 {
	group, v1, ok := cpuGroup(readText(root, "proc/self/cgroup"))
	if !ok {
		return 0
	}
	top, mount, ok := cpuMount(readText(root, "proc/self/mountinfo"), v1)
	if !ok {
		return 0
	}
	// The mount shows the groups from top down. In a container the group may
	// lie elsewhere as the file tells it; what is mounted is then its own.
	rel, below := strings.CutPrefix(group, strings.TrimSuffix(top, "/")+"/")
	if !below || !fs.ValidPath(rel) {
		rel = "."
	}
	least := 0.0
	for { // a group has no more than those around it
		if q := groupQuota(root, path.Join(mount, rel), v1); q > 0 && (least == 0 || q < least) {
			least = q
		}
		if rel == "." {
			return least
		}
		rel = path.Dir(rel)
	}
}

// cpuGroup finds in /proc/self/cgroup the group that rules processor time. A
// line is number:controllers:group; version 2 has no controllers, and gives way
// to a version 1 that has this one.
func cpuGroup(text string) (group string, v1, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(f) != 3:
		case f[1] == "" && !v1:
			group, ok = f[2], true
		case has(f[1], "cpu"):
			group, v1, ok = f[2], true, true
		}
	}
	return group, v1, ok
}

// cpuMount finds in /proc/self/mountinfo where the files of these groups are,
// relative to the root, and which group is on top there. A line is
// id parent device top mount options [tags…] - type source options.
func cpuMount(text string, v1 bool) (top, mount string, ok bool) {
	for line := range strings.Lines(text) {
		left, right, _ := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if len(l) < 6 || len(r) < 3 {
			continue
		}
		if v1 && r[0] == "cgroup" && has(r[2], "cpu") || !v1 && r[0] == "cgroup2" {
			return unescape(l[3]), strings.TrimPrefix(unescape(l[4]), "/"), true
		}
	}
	return "", "", false
}

// groupQuota returns the quota in the files of one group, 0 if it has none.
func groupQuota(root fs.FS, dir string, v1 bool) float64 {
	text := readText(root, path.Join(dir, "cpu.max")) // "max 100000" or "150000 100000"
	if v1 {
		text = readText(root, path.Join(dir, "cpu.cfs_quota_us")) + " " + readText(root, path.Join(dir, "cpu.cfs_period_us"))
	}
	f := strings.Fields(text)
	if len(f) != 2 {
		return 0
	}
	runtime, err1 := strconv.ParseInt(f[0], 10, 64) // "max", or −1, is no limit
	period, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || runtime <= 0 || period <= 0 {
		return 0
	}
	return float64(runtime) / float64(period)
}

// has reports whether a comma-separated list has a word.
func has(list, word string) bool {
	return strings.Contains(","+list+",", ","+word+",")
}

// unescape undoes the \040 of mountinfo.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// readText returns what a file holds, "" if it cannot be read: a machine
// without the file is a machine without the limit.
func readText(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}
