package spmm

// rowCall is what a kernel in assembly is given.
type rowCall struct {
	out, x, w   *Float // at the tile's first column; out in the first row
	offsets     *int64 // of the first row
	cols, edges *int32
	arg         *int32 // as out
	from, to    int64
	end         int64 // the last nonzero of all
	rows        int
	stride      uintptr // of X's rows, in bytes as the others
	weights     uintptr // of W's rows
	outs        uintptr // of out's rows
	shape       int     // twice the tile's registers, and one if the last is cut
	left        int     // columns in a register that is cut
	far         int     // 1: fetch ahead; 2: weights too
	done        uintptr // bytes of Arg's rows that are done, which the kernel counts
	set         int     // 1: a sum starts at zero, not at what is in out
	unordered   int     // not 0: there was a NaN, which the kernel does not keep
	mean        int     // 1: rows are divided by the number of their nonzeros
	stream      int     // 1: rows of the result are stored past the caches
	apart       uintptr // from a head's row of out to the next one's
}
