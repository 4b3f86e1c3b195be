package tensor

// Roll sets dst to x rolled along an axis: element i moves to i+shift, and what
// falls off one end enters at the other. A negative axis counts from the last.
// dst has x's shape and must not overlap it.
func Roll(dst, x *Dense, axis, shift int) {
	a := alongAxis(x, axisOf("Roll", x, axis))
	sameShape("Roll", dst, x)
	apart("Roll", dst, x)
	if len(x.Data) == 0 {
		return
	}
	size := a.n * a.inner
	cut := size - (shift%a.n+a.n)%a.n*a.inner // what stands from here on comes first
	for at := 0; at < len(x.Data); at += size {
		from, to := x.Data[at:at+size], dst.Data[at:at+size]
		copy(to[copy(to, from[cut:]):], from[:cut])
	}
}
