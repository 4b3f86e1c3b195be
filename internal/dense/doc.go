// Package dense holds the arithmetic of dense operations on plain arrays, without a tape. It comes as two passes, one
// forward and one for the gradients.
//
//	LayerNorm, ColumnNorm, UnitRows, PairNorm   normalisations
//	Entropy, Hinge                              losses of rows against labels
//	Pairs                                       losses of elements, of any PairLoss
//	Where, Clamp, Pow                           of elements
//	CumSumGrad, CumProdGrad, CircularConv       along rows
//	BiasThen                                    a bias on rows, and what follows it
//	PerHead, PairDots                           scalar products of rows
//	MatMulInPlace                               a product in the memory of an operand
//
// An operation is a struct of its operands. Its comment says the plain loop that it equals.
// Where results may differ from that loop it is in the last bits, since sums are taken in
// another order; but never by the number of threads. Package grad checks the operands,
// owns the memory and records.
package dense
