package sparing

// Threads are the numbers of threads, beside one, on which a computation is tried that
// several share: three, of which none has as much as another, and if Full eight, of which
// some may have nothing.
func Threads() []int {
	if Full() {
		return []int{3, 8}
	}
	return []int{3}
}
