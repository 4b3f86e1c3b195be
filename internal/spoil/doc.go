// Package spoil fills memory that holds anything until it is set, so that a test sees who reads it before.
//
// Memory is used again: a result that is not set holds that of the step before, which is often nearly right, and
// scratch that was never cleared is zero in the first call, as it should be. Whoever lends such memory passes it to
// [Floats] or [Ints], which do nothing but under the race detector and where a test has set [On]:
//
//	func TestMain(m *testing.M) { spoiltest.Main(m) }
package spoil
