package mpi

import (
	"slices"
	"unsafe"
)

// values returns a put's memory as values.
func values[T Number](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(*new(T))))
}

// reduceAs combines what the ranks put into memory.
func reduceAs[T Number](f *fakeRank, op uintptr, into []byte, all []put) {
	out := values[T](into)
	copy(out, values[T](all[0].send))
	for _, p := range all[1:] {
		for i, v := range values[T](p.send) {
			switch slices.Index(f.lib.abi.ops[:], op) {
			case int(Sum):
				out[i] += v
			case int(Min):
				out[i] = min(out[i], v)
			case int(Max):
				out[i] = max(out[i], v)
			case int(Prod):
				out[i] *= v
			default:
				f.fault("operation %#x is unknown", op)
			}
		}
	}
}

func (f *fakeRank) reduce(t, op uintptr, into []byte, all []put) int32 {
	for _, p := range all {
		if len(p.send) != len(into) {
			return 15
		}
	}
	by := [kinds]func(*fakeRank, uintptr, []byte, []put){
		kindInt8: reduceAs[int8], kindUint8: reduceAs[uint8], kindInt32: reduceAs[int32], kindUint32: reduceAs[uint32],
		kindInt64: reduceAs[int64], kindUint64: reduceAs[uint64], kindFloat32: reduceAs[float32], kindFloat64: reduceAs[float64],
	}
	by[slices.Index(f.lib.abi.types[:], t)](f, op, into, all)
	return 0
}

// spread returns the memory from the first to the last value of the parts of a v-collective, and the
// parts' ints.
func (f *fakeRank) spread(comm uintptr, at unsafe.Pointer, ns, begins *int32, t uintptr) (memory []byte, lens, from []int32) {
	f.job.mu.Lock()
	ranks := len(f.job.comms[comm])
	f.job.mu.Unlock()
	lens, from = unsafe.Slice(ns, ranks), unsafe.Slice(begins, ranks)
	end := int32(0)
	for i, n := range lens {
		if n > 0 {
			end = max(end, from[i]+n)
		}
	}
	return f.memory(at, end, t), lens, from
}

func piece(memory []byte, size int, at, n int32) []byte {
	return memory[int(at)*size : int(at+n)*size]
}

func (f *fakeRank) collectives(l *library) {
	l.Barrier = func(comm uintptr) int32 { return f.meetBarrier(comm, nil) }
	l.Bcast = func(buf unsafe.Pointer, n int32, t uintptr, root int32, comm uintptr) int32 {
		m := f.memory(buf, n, t)
		return f.meet(comm, nil, put{call: "Bcast", send: slices.Clone(m), root: root}, func(all []put, _ int) int32 {
			if len(all[root].send) != len(m) {
				return 15
			}
			copy(m, all[root].send)
			return 0
		})
	}
	l.Allgather = func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, each int32, _, comm uintptr) int32 {
		f.job.mu.Lock()
		ranks := int32(len(f.job.comms[comm]))
		f.job.mu.Unlock()
		m, size := unsafe.Slice((*byte)(recv), int(each*ranks)*f.sizeOf(t)), f.sizeOf(t)
		return f.meet(comm, nil, put{call: "Allgather", send: slices.Clone(f.memory(send, n, t))}, func(all []put, _ int) int32 {
			for i, p := range all {
				copy(piece(m, size, int32(i)*each, each), p.send)
			}
			return 0
		})
	}
	l.Gatherv = func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, _ uintptr, root int32, comm uintptr) int32 {
		m, lens, from := f.spread(comm, recv, ns, at, t)
		return f.meet(comm, nil, put{call: "Gatherv", send: slices.Clone(f.memory(send, n, t))}, func(all []put, own int) int32 {
			if int32(own) == root {
				return f.placed(all, m, f.sizeOf(t), lens, from)
			}
			return 0
		})
	}
	l.Allgatherv = func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, _, comm uintptr) int32 {
		return f.meetGather(comm, nil, f.memory(send, n, t), recv, ns, at, t)
	}
	l.Alltoallv = func(send unsafe.Pointer, ns, at *int32, t uintptr, recv unsafe.Pointer, rns, rat *int32, _, comm uintptr) int32 {
		return f.meetAlltoall(comm, nil, send, ns, at, t, recv, rns, rat)
	}
	l.Allreduce = func(_ uintptr, recv unsafe.Pointer, n int32, t, op, comm uintptr) int32 {
		return f.meetReduce(comm, nil, f.memory(recv, n, t), t, op)
	}
}

func (f *fakeRank) background(l *library) {
	l.Ibarrier = func(comm uintptr, r *uintptr) int32 { return f.meetBarrier(comm, r) }
	l.Iallgatherv = func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, _, comm uintptr, r *uintptr) int32 {
		return f.meetGather(comm, r, f.memory(send, n, t), recv, ns, at, t)
	}
	l.Ialltoallv = func(send unsafe.Pointer, ns, at *int32, t uintptr, recv unsafe.Pointer, rns, rat *int32, _, comm uintptr, r *uintptr) int32 {
		return f.meetAlltoall(comm, r, send, ns, at, t, recv, rns, rat)
	}
	l.Iallreduce = func(_ uintptr, recv unsafe.Pointer, n int32, t, op, comm uintptr, r *uintptr) int32 {
		return f.meetReduce(comm, r, f.memory(recv, n, t), t, op)
	}
}

// named returns the name of a function, with the I of those that are done in the background.
func named(call string, r *uintptr) string {
	if r != nil {
		return "I" + call
	}
	return call
}

func (f *fakeRank) meetBarrier(comm uintptr, r *uintptr) int32 {
	return f.meet(comm, r, put{call: named("barrier", r)}, func([]put, int) int32 { return 0 })
}

func (f *fakeRank) meetReduce(comm uintptr, r *uintptr, m []byte, t, op uintptr) int32 {
	into := loosely(m)
	return f.meet(comm, r, put{call: named("allreduce", r), send: slices.Clone(m)}, func(all []put, _ int) int32 {
		return f.reduce(t, op, into.bytes(), all)
	}, m)
}

// placed copies what the ranks sent to where each part belongs.
func (f *fakeRank) placed(all []put, m []byte, size int, lens, from []int32) int32 {
	for i, p := range all {
		if len(p.send) != int(lens[i])*size {
			return 15
		}
		if lens[i] > 0 {
			copy(piece(m, size, from[i], lens[i]), p.send)
		}
	}
	return 0
}

func (f *fakeRank) meetGather(comm uintptr, r *uintptr, send []byte, recv unsafe.Pointer, ns, at *int32, t uintptr) int32 {
	m, lens, from := f.spread(comm, recv, ns, at, t)
	into, ownLens, ownFrom := loosely(m), slices.Clone(lens), slices.Clone(from)
	return f.meet(comm, r, put{call: named("allgatherv", r), send: slices.Clone(send)}, func(all []put, _ int) int32 {
		return f.placed(all, into.bytes(), f.sizeOf(t), ownLens, ownFrom)
	}, send, m, raw(lens), raw(from))
}

func (f *fakeRank) meetAlltoall(comm uintptr, r *uintptr, send unsafe.Pointer, ns, at *int32, t uintptr, recv unsafe.Pointer, rns, rat *int32) int32 {
	out, outLens, outAt := f.spread(comm, send, ns, at, t)
	in, inLens, inAt := f.spread(comm, recv, rns, rat, t)
	size, into, ownLens, ownAt := f.sizeOf(t), loosely(in), slices.Clone(inLens), slices.Clone(inAt)
	p := put{call: named("alltoallv", r), send: slices.Clone(out), lens: slices.Clone(outLens), at: slices.Clone(outAt)}
	return f.meet(comm, r, p, func(all []put, own int) int32 {
		for i, p := range all {
			if p.lens[own] != ownLens[i] {
				return 15
			}
			if ownLens[i] > 0 {
				copy(piece(into.bytes(), size, ownAt[i], ownLens[i]), piece(p.send, size, p.at[own], p.lens[own]))
			}
		}
		return 0
	}, out, in, raw(outLens), raw(outAt), raw(inLens), raw(inAt))
}

// raw returns the memory of C's ints.
func raw(ints []int32) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&ints[0])), 4*len(ints)) }
