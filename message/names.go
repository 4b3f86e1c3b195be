package message

import "github.com/edgewise-ml/edgewise/grad"

// These are the names that DGL gives to the usual messages: u is the source, v
// the destination, e the edge. Every other is spelt by composition.

// CopyU is the source's row.
func CopyU(x *grad.Var) Msg { return U(x) }

// CopyE is the edge's row.
func CopyE(x *grad.Var) Msg { return E(x) }

// UAddV is x_u + y_v.
func UAddV(x, y *grad.Var) Msg { return U(x).Add(V(y)) }

// USubV is x_u − y_v.
func USubV(x, y *grad.Var) Msg { return U(x).Sub(V(y)) }

// UMulV is x_u·y_v, element by element.
func UMulV(x, y *grad.Var) Msg { return U(x).Mul(V(y)) }

// UDivV is x_u/y_v, element by element.
func UDivV(x, y *grad.Var) Msg { return U(x).Div(V(y)) }

// UDotV is the scalar product of x_u and y_v along the last axis.
func UDotV(x, y *grad.Var) Msg { return U(x).Dot(V(y)) }

// UAddE is x_u + y_e.
func UAddE(x, y *grad.Var) Msg { return U(x).Add(E(y)) }

// USubE is x_u − y_e.
func USubE(x, y *grad.Var) Msg { return U(x).Sub(E(y)) }

// UMulE is x_u·y_e, element by element.
func UMulE(x, y *grad.Var) Msg { return U(x).Mul(E(y)) }

// UDivE is x_u/y_e, element by element.
func UDivE(x, y *grad.Var) Msg { return U(x).Div(E(y)) }

// UDotE is the scalar product of x_u and y_e along the last axis.
func UDotE(x, y *grad.Var) Msg { return U(x).Dot(E(y)) }
