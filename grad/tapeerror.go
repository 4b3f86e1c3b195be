package grad

// TapeError reports a mistake in the use of a tape, such as a Var of another
// one. Like a wrong shape it is a bug of the program, so operations panic with
// it.
type TapeError struct {
	Op  string
	Why string
}

func (e *TapeError) Error() string { return "grad: " + e.Op + ": " + e.Why }
