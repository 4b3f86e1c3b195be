package mpi

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unsafe"
)

// maxCount is the largest count that a function of MPI takes: a C int.
const maxCount = 1<<31 - 1

// A library is an MPI: its functions and its ABI.
type library struct {
	functions
	file    string
	version string // such as "MPICH 5.0.2, ABI 1.0"
	family  family
	abi     abi
	limit   int // the largest count that a call is given: maxCount, except in tests

	// pause sleeps as the C library does: the timers of Go can be a millisecond late.
	pause func(time.Duration)
	// atExit runs what C libraries have left to do for the end of the process. Go ends a process without
	// that, and MPICH tells its launcher there that a rank ends in order: without it, mpiexec kills the other
	// ranks.
	atExit func()
	share  func() error // makes the symbols visible to what the library itself loads
	close  func() error // unloads a library that has not been initialised
}

// functions are those of MPI that are used here, in C's types. A handle (MPI_Comm, MPI_Datatype, MPI_Op
// or MPI_Request) is a uintptr. Each function returns MPI's error code. Loading a library fills them in
// by the names in their tags; tests fill in functions written in Go.
type functions struct {
	InitThread func(argc, argv uintptr, required int32, provided *int32) int32 `mpi:"MPI_Init_thread"`
	Finalize   func() int32                                                    `mpi:"MPI_Finalize"`
	Abort      func(comm uintptr, code int32) int32                            `mpi:"MPI_Abort"`
	GetVersion func(text *byte, n *int32) int32                                `mpi:"MPI_Get_library_version"`
	ErrorText  func(code int32, text *byte, n *int32) int32                    `mpi:"MPI_Error_string"`

	Rank       func(comm uintptr, rank *int32) int32                      `mpi:"MPI_Comm_rank"`
	Size       func(comm uintptr, size *int32) int32                      `mpi:"MPI_Comm_size"`
	Split      func(comm uintptr, color, key int32, split *uintptr) int32 `mpi:"MPI_Comm_split"`
	Dup        func(comm uintptr, dup *uintptr) int32                     `mpi:"MPI_Comm_dup"`
	Free       func(comm *uintptr) int32                                  `mpi:"MPI_Comm_free"`
	SetHandler func(comm, handler uintptr) int32                          `mpi:"MPI_Comm_set_errhandler"`

	Barrier    func(comm uintptr) int32                                                                                                      `mpi:"MPI_Barrier"`
	Bcast      func(buf unsafe.Pointer, n int32, t uintptr, root int32, comm uintptr) int32                                                  `mpi:"MPI_Bcast"`
	Allgather  func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, each int32, rt, comm uintptr) int32                        `mpi:"MPI_Allgather"`
	Gatherv    func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, rt uintptr, root int32, comm uintptr) int32 `mpi:"MPI_Gatherv"`
	Allgatherv func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, rt, comm uintptr) int32                     `mpi:"MPI_Allgatherv"`
	Alltoallv  func(send unsafe.Pointer, ns, at *int32, t uintptr, recv unsafe.Pointer, rns, rat *int32, rt, comm uintptr) int32             `mpi:"MPI_Alltoallv"`
	Allreduce  func(send uintptr, recv unsafe.Pointer, n int32, t, op, comm uintptr) int32                                                   `mpi:"MPI_Allreduce"`

	Ibarrier    func(comm uintptr, r *uintptr) int32                                                                                          `mpi:"MPI_Ibarrier"`
	Iallgatherv func(send unsafe.Pointer, n int32, t uintptr, recv unsafe.Pointer, ns, at *int32, rt, comm uintptr, r *uintptr) int32         `mpi:"MPI_Iallgatherv"`
	Ialltoallv  func(send unsafe.Pointer, ns, at *int32, t uintptr, recv unsafe.Pointer, rns, rat *int32, rt, comm uintptr, r *uintptr) int32 `mpi:"MPI_Ialltoallv"`
	Iallreduce  func(send uintptr, recv unsafe.Pointer, n int32, t, op, comm uintptr, r *uintptr) int32                                       `mpi:"MPI_Iallreduce"`

	Isend    func(buf unsafe.Pointer, n int32, t uintptr, to, tag int32, comm uintptr, r *uintptr) int32   `mpi:"MPI_Isend"`
	Irecv    func(buf unsafe.Pointer, n int32, t uintptr, from, tag int32, comm uintptr, r *uintptr) int32 `mpi:"MPI_Irecv"`
	Test     func(r *uintptr, flag *int32, status *uint64) int32                                           `mpi:"MPI_Test"`
	GetCount func(status *uint64, t uintptr, n *int32) int32                                               `mpi:"MPI_Get_count"`
}

// An Error is what a function of MPI returned. The communicator may be unusable afterwards: MPI
// does not say, and most programs end.
type Error struct {
	Call string // the function, such as MPI_Allreduce
	Code int    // MPI's code, whose meaning is the library's own
	Text string // what MPI_Error_string says of the code
}

func (e *Error) Error() string { return fmt.Sprintf("mpi: %s: %s", e.Call, e.Text) }

// check returns the error that a code stands for, nil for MPI_SUCCESS.
func (l *library) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	text, n := make([]byte, l.abi.errorBytes), int32(0)
	e := &Error{Call: call, Code: int(code)}
	if l.ErrorText(code, &text[0], &n) == 0 {
		e.Text = strings.TrimSpace(cut(text, n))
	}
	if e.Text == "" {
		e.Text = fmt.Sprintf("error code %d", code)
	}
	return e
}

// cut returns the text of n bytes that C wrote, without a zero at its end.
func cut(text []byte, n int32) string {
	text = text[:max(0, min(int(n), len(text)))]
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return string(text)
}

// A family is a project that makes an MPI library and the launcher that belongs to it.
type family string

const (
	mpich    family = "MPICH"
	openmpi  family = "Open MPI"
	anyOther family = ""
)

var (
	mpichVersion   = regexp.MustCompile(`^MPICH Version:\s*(\S+)`)
	openmpiVersion = regexp.MustCompile(`^Open MPI v?([^\s,]+)`)
)

// readVersion reads the answer of MPI_Get_library_version, which is a line or a page.
func readVersion(text string) (string, family) {
	if m := mpichVersion.FindStringSubmatch(text); m != nil {
		return "MPICH " + m[1], mpich
	}
	if m := openmpiVersion.FindStringSubmatch(text); m != nil {
		return "Open MPI " + m[1], openmpi
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line), anyOther
}
