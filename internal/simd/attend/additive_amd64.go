//go:build !noasm && !f64

package attend

func (a *Additive) logitsFast() { additiveLogits(a) }

func (a *Additive) gradFast() { additiveGrad(a) }
