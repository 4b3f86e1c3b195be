package mpi

import (
	"os"
	"strconv"
)

// A launcher is what started this process as one of several, as its environment says.
type launcher struct {
	name   string // "" if there is none
	sign   string // the variable that gave it away, with its value
	size   int    // how many processes it started, or 0 if the environment does not say
	family family // whose library it needs, or anyOther
}

// launchers are the signs of launchers. The first that is found counts: mpirun inside of a Slurm job
// leaves Slurm's variables as they are, and srun sets those of PMI where it serves PMI.
var launchers = []struct {
	sign, size string // the variable that tells, and that with the number of processes
	launcher
}{
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", launcher{name: "Open MPI's mpirun", family: openmpi}},
	{"HYDI_CONTROL_FD", "PMI_SIZE", launcher{name: "MPICH's mpiexec", family: mpich}},
	// SLURM_NTASKS is set in a batch script too, which is one process: only a step counts.
	{"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", launcher{name: "Slurm's srun"}},
	{"PMI_SIZE", "PMI_SIZE", launcher{name: "MPICH's mpiexec", family: mpich}},
	{"PMI_RANK", "PMI_SIZE", launcher{name: "MPICH's mpiexec", family: mpich}},
	{"PMI_FD", "PMI_SIZE", launcher{name: "MPICH's mpiexec", family: mpich}},
	{"PMIX_RANK", "", launcher{name: "a launcher that serves PMIx"}},
}

// launchedBy reads the environment.
func launchedBy(env func(string) string) launcher {
	for _, l := range launchers {
		if v := env(l.sign); v != "" {
			out := l.launcher
			out.sign = l.sign + "=" + v
			if size, err := strconv.Atoi(env(l.size)); err == nil && size > 0 {
				out.size, out.sign = size, l.size+"="+env(l.size)
			}
			return out
		}
	}
	return launcher{}
}

// Launched reports whether a launcher of MPI started this process: mpiexec, mpirun or srun. A program
// that can also run alone need not call Init if it reports false.
func Launched() bool { return launchedBy(os.Getenv).name != "" }
