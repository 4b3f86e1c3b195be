package ir

// Reducer combines the messages of a destination.
type Reducer uint8

// The reducers, as package message explains them.
const (
	Sum Reducer = iota
	Mean
	Max
	Min
	Std
	LogSumExp
	NumReducers
)

var reducerNames = [NumReducers]string{"Sum", "Mean", "Max", "Min", "Std", "LogSumExp"}

// String returns the reducer's name.
func (r Reducer) String() string {
	if r < NumReducers {
		return reducerNames[r]
	}
	return "Reducer(?)"
}
