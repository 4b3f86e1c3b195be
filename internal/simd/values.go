package simd

// Values are the nonzeros of some rows of a CSR matrix, from Row on.
type Values struct {
	Offsets []int64 // of the rows and the end
	Cols    []int32 // of all nonzeros of the matrix
	From    []Float // the value of each
	To      []Float // what becomes of it; may be From
	Row     int

	k0, k1, drop uint32
	scale        Float
}

// Drop drops nonzeros as [Dropout.Add] drops the elements of a matrix:
//
//	To[k] = From[k]·scale where Keep, else 0
func (v *Values) Drop(d *Dropout) {
	rows := len(v.Offsets) - 1
	if rows < 1 {
		return
	}
	n := v.Offsets[rows]
	_, _, _ = v.Cols[:n], v.From[:n], v.To[:n]
	v.k0, v.k1, v.drop, v.scale = d.k0, d.k1, d.drop, Float(d.Scale)
	if fast {
		v.dropFast()
		return
	}
	for r := range rows {
		key := d.Row(v.Row + r)
		for k := v.Offsets[r]; k < v.Offsets[r+1]; k++ {
			if x := v.From[k]; d.Keep(key, int(v.Cols[k])) {
				v.To[k] = x * v.scale
			} else {
				v.To[k] = 0
			}
		}
	}
}
