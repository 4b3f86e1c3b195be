package mpi

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// process is the MPI of this process.
var process struct {
	sync.Mutex
	began bool // MPI_Init has been called, which can be done once
	lib   *library
	e     *engine
}

// Init loads an MPI library, starts MPI and returns the communicator of all ranks, MPI_COMM_WORLD. It can
// be called once in a process. Package documentation says which library is loaded. Init fails if there is
// none, or if a launcher started several processes and the library does not know of the others.
func Init() (*Comm, error) {
	process.Lock()
	defer process.Unlock()
	if process.began {
		return nil, errors.New("mpi: Init has been called before: MPI can be started once in a process")
	}
	if err := supported(); err != nil {
		return nil, err
	}
	by := launchedBy(os.Getenv)
	lib, err := find(os.Getenv, by, folders(os.Getenv), open)
	if err != nil {
		return nil, err
	}
	if err := lib.share(); err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", lib.file, err)
	}
	process.began, process.lib = true, lib
	e := newEngine(lib)
	world, err := e.init(by)
	if err != nil {
		return nil, err
	}
	process.e = e
	return world, nil
}

// init calls MPI_Init_thread and describes the communicator of all ranks.
func (e *engine) init(by launcher) (*Comm, error) {
	var world *Comm
	err := e.onThread(func() error {
		l := e.lib
		var provided int32
		if err := l.check("MPI_Init_thread", l.InitThread(0, 0, l.abi.serialized, &provided)); err != nil {
			return err
		}
		if provided < l.abi.funneled {
			return fmt.Errorf("mpi: %s gives threads of level %d, and MPI_THREAD_FUNNELED is needed: build it with threads", l.version, provided)
		}
		e.direct = provided >= l.abi.serialized
		var err error
		world, err = e.describe(l.abi.world)
		return err
	})
	if err != nil {
		return nil, err
	}
	if world.size == 1 && by.size > 1 {
		err := alone(by, e.lib)
		return nil, errors.Join(err, e.finalize())
	}
	return world, nil
}

// alone is the error of a rank that does not see the others.
func alone(by launcher, l *library) error {
	help := "start the program with the mpiexec that belongs to this library, or set " + variable + " to the library that belongs to the launcher"
	if by.family == anyOther {
		help += " (with Slurm, srun --mpi=pmix or --mpi=pmi2 may do; srun --mpi=list shows what there is)"
	}
	return fmt.Errorf("mpi: this process is one of %d that %s started (%s), and %s (%s) sees no other: %s", by.size, by.name, by.sign, l.version, l.file, help)
}

// Finalize ends MPI. Every rank must call it before it ends, and no request may be pending. No other
// function of this package can be called afterwards, except Version and Launched.
func Finalize() error {
	process.Lock()
	e := process.e
	process.Unlock()
	if e == nil {
		return errors.New("mpi: Finalize: Init has not been called, or has failed")
	}
	return e.finalize()
}

// Version says which library is loaded, such as "MPICH 5.0.2, ABI 1.0 (/opt/mpich/lib/libmpi_abi.so.1)".
// It is empty before Init.
func Version() string {
	process.Lock()
	defer process.Unlock()
	if process.lib == nil {
		return ""
	}
	return process.lib.version + " (" + process.lib.file + ")"
}
