package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The encodings of values.
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaBytes      = 7
	encDictionary      = 8
	encSplit           = 9
)

var errShort = errors.New("a page has fewer values than it says: the file is damaged; get it again")

// values are those of one page or dictionary: numbers, or texts one after the other.
type values struct {
	ints   []int64   // of BOOLEAN, INT32 and INT64
	floats []float64 // of FLOAT and DOUBLE
	bytes  []byte    // of the others
	ends   []int     // of each text in bytes
	n      int
}

// text returns a text.
func (v *values) text(i int) []byte {
	if i == 0 {
		return v.bytes[:v.ends[0]]
	}
	return v.bytes[v.ends[i-1]:v.ends[i]]
}

// sized returns a slice of n elements, in s if it is long enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// looked returns the values of codes.
func looked[T any](out, dict []T, codes []int32) []T {
	out = sized(out, len(codes))
	for i, c := range codes {
		out[i] = dict[c]
	}
	return out
}

// decode reads n values of a page.
func (v *values) decode(l *leaf, encoding int, b []byte, n int, most int64) error {
	v.n = n
	switch {
	case encoding == encPlain:
		return v.plain(l, b, n)
	case encoding == encRLE && l.physical == physBool:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return errShort
		}
		codes, err := hybrid(nil, b[4:4+binary.LittleEndian.Uint32(b)], 1, n)
		if err != nil {
			return err
		}
		v.ints = sized(v.ints, n)
		for i, c := range codes {
			v.ints[i] = int64(c)
		}
		return nil
	case encoding == encDelta && (l.physical == physInt32 || l.physical == physInt64):
		_, err := v.delta(b, n, l.physical == physInt32)
		return err
	case encoding == encDeltaLength && l.physical == physBytes:
		return v.deltaLength(b, n)
	case encoding == encDeltaBytes && (l.physical == physBytes || l.physical == physFixed):
		return v.deltaBytes(b, n, most)
	case encoding == encSplit && l.physical != physBool && l.physical != physBytes && l.physical != physInt96:
		width := l.width()
		if len(b)/width < n {
			return errShort
		}
		joined := make([]byte, n*width)
		for k := range width {
			for i, c := range b[k*n : (k+1)*n] {
				joined[i*width+k] = c
			}
		}
		return v.plain(l, joined, n)
	}
	return fmt.Errorf("a page has the encoding %d of Parquet, which is not read for %s: write the column with dictionaries, or plainly", encoding, physNames[l.physical])
}

// width returns the bytes of a plain value that has a fixed length.
func (l *leaf) width() int {
	return [...]int{physInt32: 4, physInt64: 8, physInt96: 12, physFloat: 4, physDouble: 8, physFixed: l.length}[l.physical]
}

// plain reads values as they are in memory.
func (v *values) plain(l *leaf, b []byte, n int) error {
	if l.physical != physBool && l.physical != physBytes && len(b)/l.width() < n || l.physical == physBool && len(b) < (n+7)/8 {
		return errShort
	}
	switch l.physical {
	case physBool:
		v.ints = sized(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int64(b[i/8] >> (i % 8) & 1)
		}
	case physInt32:
		v.ints = sized(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case physInt64:
		v.ints = sized(v.ints, n)
		for i := range v.ints {
			v.ints[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case physFloat:
		v.floats = sized(v.floats, n)
		for i := range v.floats {
			v.floats[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case physDouble:
		v.floats = sized(v.floats, n)
		for i := range v.floats {
			v.floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case physBytes:
		v.bytes, v.ends = v.bytes[:0], sized(v.ends, n)
		for i := range n {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return errShort
			}
			end := 4 + int(binary.LittleEndian.Uint32(b))
			v.bytes = append(v.bytes, b[4:end]...)
			v.ends[i], b = len(v.bytes), b[end:]
		}
	default:
		width := l.width()
		v.bytes, v.ends = append(v.bytes[:0], b[:n*width]...), sized(v.ends, n)
		for i := range n {
			v.ends[i] = (i + 1) * width
		}
	}
	return nil
}

// bitsAt returns width bits of b, from a bit on. What is beyond b is 0.
func bitsAt(b []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	i, shift := at/8, at%8
	var word [9]byte
	var low uint64
	if i+9 <= len(b) {
		low = binary.LittleEndian.Uint64(b[i:]) >> shift
		if shift+width > 64 {
			low |= uint64(b[i+8]) << (64 - shift)
		}
	} else {
		copy(word[:], b[min(i, len(b)):])
		low = binary.LittleEndian.Uint64(word[:]) >> shift
		if shift+width > 64 {
			low |= uint64(word[8]) << (64 - shift)
		}
	}
	return low & (1<<width - 1)
}

// hybrid reads n numbers of width bits that are written as runs of one, or packed in groups of eight.
func hybrid(out []int32, b []byte, width, n int) ([]int32, error) {
	if width > 32 {
		return nil, errThrift
	}
	out = sized(out, n)
	for i := 0; i < n; {
		head, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errShort
		}
		b = b[size:]
		count := int(min(head>>1, uint64(n))) // of the run, or of groups
		if head&1 == 0 {
			bytes := (width + 7) / 8
			if len(b) < bytes || count == 0 {
				return nil, errShort
			}
			value := int32(bitsAt(b, 0, width))
			for end := min(n, i+count); i < end; i++ {
				out[i] = value
			}
			b = b[bytes:]
			continue
		}
		end := min(n, i+8*count)
		if count == 0 || len(b) < (width*(end-i)+7)/8 {
			return nil, errShort
		}
		unpackBits(out[i:end], b, width)
		i = end
		b = b[min(len(b), width*count):]
	}
	return out, nil
}

// unpackBits reads packed numbers of at most 32 bits.
func unpackBits(out []int32, b []byte, width int) {
	mask := uint64(1)<<width - 1
	at, i := 0, 0
	for ; i < len(out) && at/8+8 <= len(b); i++ {
		out[i] = int32(binary.LittleEndian.Uint64(b[at/8:]) >> (at % 8) & mask)
		at += width
	}
	for ; i < len(out); i++ {
		out[i] = int32(bitsAt(b, at, width))
		at += width
	}
}

// delta reads n whole numbers of which the differences are written, and returns what follows them.
func (v *values) delta(b []byte, n int, short bool) (rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		size := 0
		if head[i], size = binary.Uvarint(b); size <= 0 {
			return nil, errShort
		}
		b = b[size:]
	}
	block, parts, total := head[0], head[1], head[2]
	first, size := binary.Varint(b)
	if size <= 0 || block == 0 || block > 1<<20 || parts == 0 || block%parts != 0 || block/parts%8 != 0 || total != uint64(n) {
		return nil, errShort
	}
	b = b[size:]
	v.ints = sized(v.ints, n)
	if n == 0 {
		return b, nil
	}
	v.ints[0] = first
	each := int(block / parts)
	for i := 1; i < n; {
		least, size := binary.Varint(b)
		if size <= 0 || len(b)-size < int(parts) {
			return nil, errShort
		}
		widths := b[size : size+int(parts)]
		b = b[size+int(parts):]
		for _, w := range widths {
			width := int(w)
			if i >= n {
				break
			}
			if width > 64 || len(b) < width*min(each, (n-i+7)/8*8)/8 {
				return nil, errShort
			}
			for k := 0; k < each && i < n; k++ {
				x := v.ints[i-1] + least + int64(bitsAt(b, k*width, width))
				if short {
					x = int64(int32(x))
				}
				v.ints[i] = x
				i++
			}
			b = b[min(len(b), each*width/8):]
		}
	}
	return b, nil
}

// deltaLength reads texts after all of their lengths.
func (v *values) deltaLength(b []byte, n int) error {
	rest, err := v.delta(b, n, true)
	if err != nil {
		return err
	}
	v.ends = sized(v.ends, n)
	end := 0
	for i, length := range v.ints[:n] {
		if length < 0 || length > int64(len(rest)-end) {
			return errShort
		}
		end += int(length)
		v.ends[i] = end
	}
	v.bytes = append(v.bytes[:0], rest[:end]...)
	return nil
}

// deltaBytes reads texts of which each begins as the one before it. They may be most bytes long.
func (v *values) deltaBytes(b []byte, n int, most int64) error {
	rest, err := v.delta(b, n, true)
	if err != nil {
		return err
	}
	same := append([]int64(nil), v.ints[:n]...)
	if rest, err = v.delta(rest, n, true); err != nil {
		return err
	}
	v.bytes, v.ends = v.bytes[:0], sized(v.ends, n)
	begin := 0 // of the last text
	for i, length := range v.ints[:n] {
		last := v.bytes[begin:]
		if same[i] < 0 || same[i] > int64(len(last)) || length < 0 || length > int64(len(rest)) {
			return errShort
		}
		if int64(len(v.bytes))+same[i]+length > most {
			return errHuge
		}
		begin = len(v.bytes)
		v.bytes = append(append(v.bytes, last[:same[i]]...), rest[:length]...)
		rest = rest[length:]
		v.ends[i] = len(v.bytes)
	}
	return nil
}

// errHuge is the error for a file that says too much for its size.
var errHuge = errors.New("it says so much for its size that it is refused: write it plainly and without compression, if you trust it")
