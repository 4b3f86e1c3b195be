// Package bits is tests only. It holds a table of hashes of results and gradients,
// so that who moves code can prove that every bit stayed.
//
//	go test ./internal/bits                the column avx2: the assembly of AVX2
//	go test -tags noasm ./internal/bits    noasm: plain Go
//	go test -tags f64 ./internal/bits      f64: plain Go in float64
//
// testdata/amd64.txt is the table: a name a line, and for each build 8 hexadecimal digits of a
// SHA-256. A = is the hash of the column before it, a - one that is not recorded. An entry is an
// operation, a layer, an expression or a training on inputs that follow from its name. Its hash is
// that of every result, of the gradient of every Param and watched input, and of what Params are
// afterwards. A failure names the entries with other bits: a change of one kernel shows in the
// entries of the operations that call it.
//
// The entries reach every path of the kernels, and most of them once. An operation meets each graph,
// each shape and each number of rows, but not all of their combinations (turn). A new case is
// worth its lines in the table if it reaches code that no other reaches (go test -coverpkg says so).
//
// The usual run computes a quarter of the entries, some of each operation and layer. All are
// computed with EDGEWISE_FULL set, as before and after a refactoring that must keep its bits:
//
//	EDGEWISE_FULL=1 go test ./internal/bits
//
// A change that means to change bits records the table again, in each of the three builds and in
// the same commit, which says which entries changed and why:
//
//	go test ./internal/bits -update
//	go test -tags noasm ./internal/bits -update
//	go test -tags f64 ./internal/bits -update
//
// What is new is recorded alone, in seconds, by -update -new in the same three builds. A new option of
// a layer comes last in its list: which graphs an option meets follows from its place (turn), so that one in
// the middle changes the entries of all that follow.
//
// # Processors
//
// Bits are those of an amd64 processor with AVX2 and FMA, of a program built with
// GOAMD64=v1, the default; elsewhere the test skips and says why. Plain Go needs FMA
// too: math.Exp uses it where it is there.
//
// internal/simd takes kernels of AVX-512, few as they are, where the processor has them
// (cpu.Path says which are taken). That of GATv2 with eight heads of eight columns has
// other bits than AVX2's: 41 of the entries differed when the table was made, all of them
// of GATv2 or a layer of it; so have dot products of eight heads of eight on listed edges. So
// the test turns to AVX2 with cpu.Narrow and records that alone, which every processor that
// compares can run. What only AVX-512 runs is compared with a tolerance, by the tests of
// internal/simd.
//
// # Training runs
//
// TestTrained is not about bits. It trains five small networks with the kernels of any processor and in plain Go, and
// holds both against the same runs in float64, which testdata/trained.txt records.
//
// # Caveats
//
// An entry's dropouts follow from the order in which they are drawn. The bits do not
// depend on the number of threads: other tests prove that.
package bits
