package usage

import (
	"os"
	"strconv"
	"strings"
)

// Usage is what the system says at one moment. It is known on Linux; elsewhere
// every field is zero and OK is false.
type Usage struct {
	OK         bool
	PeakMiB    float64 // highest resident set of this process so far
	SinceStart float64 // seconds since this process was started
	busy, all  float64 // ticks of the whole machine
	own        float64 // ticks of this process
}

// ticksPerSecond is USER_HZ, which every Linux that Go runs on has at 100.
const ticksPerSecond = 100

// Now returns the usage at this moment.
func Now() Usage {
	u := Usage{PeakMiB: PeakMiB()}
	machine := fieldsOf("/proc/stat", "cpu ")
	self := fieldsOf("/proc/self/stat", ")")
	uptime := fieldsOf("/proc/uptime", "")
	if len(machine) < 8 || len(self) < 20 || len(uptime) < 1 || u.PeakMiB == 0 {
		return u
	}
	for _, ticks := range machine[:8] {
		u.all += ticks
	}
	u.busy = u.all - machine[3] - machine[4]
	u.own = self[11] + self[12]
	u.SinceStart = uptime[0] - self[19]/ticksPerSecond
	u.OK = true
	return u
}

// Others returns the share of the machine, in per cent, that other processes
// used between u and a later time; nil if it is not known.
func (u Usage) Others(later Usage) *float64 {
	if !u.OK || !later.OK || later.all <= u.all {
		return nil
	}
	share := max(0, 100*(later.busy-u.busy-(later.own-u.own))/(later.all-u.all))
	return &share
}

// PeakMiB returns the highest resident set in MiB, 0 if it is not known. It
// is not ru_maxrss, which a process inherits from the one that started it.
func PeakMiB() float64 {
	kib := fieldsOf("/proc/self/status", "VmHWM:")
	if len(kib) == 0 {
		return 0
	}
	return kib[0] / 1024
}

// FreeMiB returns the memory in MiB that processes could still take without swapping, 0 if it is not known.
func FreeMiB() float64 {
	kib := fieldsOf("/proc/meminfo", "MemAvailable:")
	if len(kib) == 0 {
		return 0
	}
	return kib[0] / 1024
}

// fieldsOf returns the numbers that follow the last mark in the first line of a
// file that has it. What is no number is zero.
func fieldsOf(file, mark string) []float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndex(line, mark)
		if at < 0 {
			continue
		}
		var out []float64
		if mark == "" {
			at = 0
		}
		for _, f := range strings.Fields(line[at+len(mark):]) {
			v, _ := strconv.ParseFloat(f, 64)
			out = append(out, v)
		}
		return out
	}
	return nil
}
