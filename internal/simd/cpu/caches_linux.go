package cpu

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// caches reads what Linux says of the first core. Without a third cache the second is the
// last.
func caches() (second, last int) {
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, dir := range dirs {
		if word(dir, "type") == "Instruction" {
			continue
		}
		size := cacheSize(word(dir, "size"))
		switch word(dir, "level") {
		case "2":
			second, last = size, max(last, size)
		case "3", "4":
			last = max(last, size)
		}
	}
	return second, last
}

func word(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// cacheSize returns a size such as 1024K in bytes, or 0.
func cacheSize(s string) int {
	unit := 1
	switch {
	case strings.HasSuffix(s, "K"):
		unit = 1 << 10
	case strings.HasSuffix(s, "M"):
		unit = 1 << 20
	}
	n, err := strconv.Atoi(strings.TrimRight(s, "KM"))
	if err != nil || n < 0 || n > min(1<<40, math.MaxInt)/unit {
		return 0
	}
	return n * unit
}
