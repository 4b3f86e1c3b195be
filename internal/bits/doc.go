// Package bits is tests only. It holds a table of hashes of results and gradients,
// so that who moves code can prove that every bit stayed.
//
//	go test ./internal/bits                the table of the assembly of AVX2
//	go test -tags noasm ./internal/bits    that of plain Go
//	go test -tags f64 ./internal/bits      that of float64
//
// A file of testdata is the table of a build: a name and 16 hexadecimal digits of a
// SHA-256 a line. An entry is an operation, a layer, an expression or a training on
// inputs that follow from its name; its hash is that of every result, of the gradient
// of every Param and watched input, and of what Params are afterwards. A failure names
// the entries with other bits: a change of one kernel shows in the entries of the
// operations that call it. The usual run computes a sixth of the entries, some of each operation
// and layer; all are computed with EDGEWISE_FULL set. Who moves code to where it must keep
// its bits runs all:
//
//	EDGEWISE_FULL=1 go test ./internal/bits
//
// Who means to change bits records the table again, in each of the three builds and in
// the commit that changes them, and says there which entries changed and why:
//
//	go test ./internal/bits -update
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
// # Caveats
//
// An entry's dropouts follow from the order in which they are drawn. The bits do not
// depend on the number of threads: other tests prove that.
package bits
