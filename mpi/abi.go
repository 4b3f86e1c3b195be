package mpi

import "reflect"

// An abi is what a program must know of a library beside the names of its functions: the values that
// its header mpi.h gives to handles and constants. Two are known, that of the MPI Forum and Open MPI's.
// The functions have the same names and, as the handles are of the size of a pointer in both, the same
// arguments.
type abi struct {
	name         string
	world        uintptr               // MPI_COMM_WORLD
	errorsReturn uintptr               // MPI_ERRORS_RETURN
	types        [kinds]uintptr        // MPI_INT8_T …, by kind
	ops          [len(opNames)]uintptr // MPI_SUM …, by Op

	inPlace    uintptr // MPI_IN_PLACE
	undefined  int32   // MPI_UNDEFINED, as a color: part of no communicator
	funneled   int32   // MPI_THREAD_FUNNELED
	serialized int32   // MPI_THREAD_SERIALIZED

	versionBytes int // MPI_MAX_LIBRARY_VERSION_STRING
	errorBytes   int // MPI_MAX_ERROR_STRING
	statusBytes  int // the size of an MPI_Status
}

// statusWords are the words of eight bytes that the larger MPI_Status of the two has.
const statusWords = 4

// standard is the ABI of MPI 5.0, chapter 20: fixed numbers, whoever made the library.
var standard = abi{
	name:         "standard ABI",
	world:        0x101,
	errorsReturn: 0x143,
	types: [kinds]uintptr{
		kindInt8:    0x240,
		kindUint8:   0x241,
		kindInt32:   0x250,
		kindUint32:  0x251,
		kindInt64:   0x258,
		kindUint64:  0x259,
		kindFloat32: 0x210,
		kindFloat64: 0x214,
	},
	ops: [...]uintptr{Sum: 0x21, Min: 0x22, Max: 0x23, Prod: 0x24},

	inPlace:    1,
	undefined:  -32766,
	funneled:   1024,
	serialized: 2048,

	versionBytes: 8192,
	errorBytes:   512,
	statusBytes:  32,
}

// openMPI returns the ABI of Open MPI 3 to 5, whose handles are the addresses of variables in the
// library. Address returns that of a variable.
func openMPI(address func(symbol string) (uintptr, error)) (abi, error) {
	a := abi{
		name: "Open MPI's ABI",

		inPlace:    1,
		undefined:  -32766,
		funneled:   1,
		serialized: 2,

		versionBytes: 256,
		errorBytes:   256,
		statusBytes:  24,
	}
	handles := []struct {
		symbol string
		to     *uintptr
	}{
		{"ompi_mpi_comm_world", &a.world},
		{"ompi_mpi_errors_return", &a.errorsReturn},
		{"ompi_mpi_int8_t", &a.types[kindInt8]},
		{"ompi_mpi_uint8_t", &a.types[kindUint8]},
		{"ompi_mpi_int32_t", &a.types[kindInt32]},
		{"ompi_mpi_uint32_t", &a.types[kindUint32]},
		{"ompi_mpi_int64_t", &a.types[kindInt64]},
		{"ompi_mpi_uint64_t", &a.types[kindUint64]},
		{"ompi_mpi_float", &a.types[kindFloat32]},
		{"ompi_mpi_double", &a.types[kindFloat64]},
		{"ompi_mpi_op_sum", &a.ops[Sum]},
		{"ompi_mpi_op_min", &a.ops[Min]},
		{"ompi_mpi_op_max", &a.ops[Max]},
		{"ompi_mpi_op_prod", &a.ops[Prod]},
	}
	for _, h := range handles {
		at, err := address(h.symbol)
		if err != nil {
			return abi{}, err
		}
		*h.to = at
	}
	return a, nil
}

// Number are the types whose values can be sent: each is one of MPI's datatypes. Int, uint and
// uintptr are not among them, because their size depends on the machine.
type Number interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// A kind is a type of Number, or one with such a type underneath.
type kind int

const (
	kindInt8 kind = iota
	kindUint8
	kindInt32
	kindUint32
	kindInt64
	kindUint64
	kindFloat32
	kindFloat64
	kinds
)

// kindOf returns the kind of T.
func kindOf[T Number]() kind {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int8:
		return kindInt8
	case reflect.Uint8:
		return kindUint8
	case reflect.Int32:
		return kindInt32
	case reflect.Uint32:
		return kindUint32
	case reflect.Int64:
		return kindInt64
	case reflect.Uint64:
		return kindUint64
	case reflect.Float32:
		return kindFloat32
	default:
		return kindFloat64 // Number has no other
	}
}

// An Op says how Allreduce combines the values of the ranks.
type Op int

// The operations of Allreduce.
const (
	Sum Op = iota
	Min
	Max
	Prod
)

var opNames = [...]string{"sum", "min", "max", "prod"}

// String returns the name of the operation.
func (o Op) String() string {
	if o < 0 || int(o) >= len(opNames) {
		return "an unknown operation"
	}
	return opNames[o]
}
