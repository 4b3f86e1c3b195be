package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// The types of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// pageHeader is what a page says of itself.
type pageHeader struct {
	typ               int
	plain, compressed int
	crc               int
	checked           bool // crc is there
	n, encoding       int
	def, rep          int // bytes of the levels of a V2 page
	levels            int // how a V1 page writes its definition levels
	stored            bool
	size              int // of the header itself
}

func readPageHeader(b []byte) (h pageHeader, ok bool) {
	r := thriftReader{b: b}
	h.levels = encRLE
	inner := func(into map[int64]*int) {
		r.fields(func(id int64, typ byte) {
			switch field := into[id]; {
			case field != nil:
				whole(&r, typ, field)
			case h.typ == dataPageV2 && id == 7:
				h.stored = typ == isFalse
			default:
				r.skip(typ)
			}
		})
	}
	r.fields(func(id int64, typ byte) {
		switch {
		case id == 1:
			whole(&r, typ, &h.typ)
		case id == 2:
			whole(&r, typ, &h.plain)
		case id == 3:
			whole(&r, typ, &h.compressed)
		case id == 4:
			h.checked = true
			whole(&r, typ, &h.crc)
		case id == 5 && typ == isStruct:
			inner(map[int64]*int{1: &h.n, 2: &h.encoding, 3: &h.levels})
		case id == 7 && typ == isStruct:
			inner(map[int64]*int{1: &h.n, 2: &h.encoding})
		case id == 8 && typ == isStruct:
			inner(map[int64]*int{1: &h.n, 4: &h.encoding, 5: &h.def, 6: &h.rep})
		default:
			r.skip(typ)
		}
	})
	h.size = len(b) - len(r.b)
	return h, !r.failed
}

// levelBytes is what a value of a list takes while its page is read.
const levelBytes = 16

// pages reads the pages of a chunk one after the other.
type pages struct {
	t    *table
	leaf *leaf
	c    *chunk
	at   int64 // where the next page begins
	end  int64 // where the file's footer begins at the latest
	left int64 // values that the chunk has yet

	// The page that was read.
	n        int    // its values, with those that are null
	def, rep []byte // levels; nil of def: no value is null
	coded    bool   // its values are codes of dict
	dict     *values
	codes    []int32
	vals     values
	present  int // values that are not null

	packed, open []byte
	levels       [2][]int32
	bytes        [2][]byte
}

// next reads the next page of values, and says false if there is none.
func (p *pages) next() (bool, error) {
	for p.left > 0 {
		h, b, err := p.read()
		if err != nil {
			return false, err
		}
		switch h.typ {
		case dictionaryPage:
			if p.dict != nil {
				return false, errors.New("a column has two dictionaries: the file is damaged; get it again")
			}
			if b, err = p.decompress(b, h.plain); err != nil {
				return false, err
			}
			p.dict = new(values)
			if err := p.dict.decode(p.leaf, encPlain, b, h.n, p.t.most); err != nil {
				return false, err
			}
		case dataPage, dataPageV2:
			if int64(h.n) > p.left {
				return false, errors.New("a page has more values than its column: the file is damaged; get it again")
			}
			p.left -= int64(h.n)
			if int64(h.n) > p.t.left.Load()/levelBytes && p.leaf.maxRep > 0 { // any other column has a value a row
				return false, errHuge
			}
			if err := p.take(h, b); err != nil {
				return false, err
			}
			return true, nil
		}
	}
	return false, nil
}

// read reads a page's header and its bytes.
func (p *pages) read() (h pageHeader, b []byte, err error) {
	for window := int64(512); ; window *= 16 {
		window = min(window, p.end-p.at)
		if window <= 0 {
			return h, nil, errors.New("its pages end too soon: the file was cut off, or is damaged; get it again")
		}
		p.packed = sized(p.packed, int(window))
		if _, err := p.t.r.ReadAt(p.packed, p.at); err != nil {
			return h, nil, err
		}
		var ok bool
		if h, ok = readPageHeader(p.packed); ok {
			break
		}
		if window >= min(p.end-p.at, 1<<24) {
			return h, nil, errThrift
		}
	}
	p.at += int64(h.size)
	if h.n < 0 || h.plain < 0 || h.compressed < 0 || int64(h.compressed) > p.end-p.at || h.def < 0 || h.rep < 0 {
		return h, nil, errors.New("a page says that it is longer than the file: the file was cut off, or is damaged; get it again")
	}
	if int64(h.plain) > p.t.most || h.typ == dictionaryPage && int64(h.n) > 8*int64(h.plain)+1 {
		return h, nil, errHuge
	}
	p.packed = sized(p.packed, h.compressed)
	if _, err := p.t.r.ReadAt(p.packed, p.at); err != nil {
		return h, nil, err
	}
	p.at += int64(h.compressed)
	if h.checked && crc32.ChecksumIEEE(p.packed) != uint32(h.crc) {
		return h, nil, fmt.Errorf("the checksum of the page before byte %d is wrong: the file is damaged; get it again", p.at)
	}
	return h, p.packed, nil
}

// take reads the levels and the values of a page.
func (p *pages) take(h pageHeader, b []byte) (err error) {
	p.n, p.def, p.rep = h.n, nil, nil
	l := p.leaf
	var rep, def []byte
	if h.typ == dataPageV2 {
		if h.rep+h.def > len(b) || h.rep+h.def > h.plain {
			return errShort
		}
		rep, def, b = b[:h.rep], b[h.rep:h.rep+h.def], b[h.rep+h.def:]
		if !h.stored {
			if b, err = p.decompress(b, h.plain-h.rep-h.def); err != nil {
				return err
			}
		}
	} else {
		if b, err = p.decompress(b, h.plain); err != nil {
			return err
		}
		cut := func(max int) (part []byte) {
			if max == 0 || err != nil {
				return nil
			}
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				err = errShort
				return nil
			}
			end := 4 + int(binary.LittleEndian.Uint32(b))
			part, b = b[4:end], b[end:]
			return part
		}
		if rep, def = cut(l.maxRep), cut(l.maxDef); err != nil {
			return err
		}
		if h.levels != encRLE && l.maxDef > 0 {
			return errors.New("its levels are written in a way that was given up in 2013: write it again")
		}
	}
	if p.rep, err = p.level(0, rep, l.maxRep); err != nil {
		return err
	}
	if p.def, err = p.level(1, def, l.maxDef); err != nil {
		return err
	}
	p.present = p.n
	if p.def != nil {
		p.present = bytes.Count(p.def, []byte{byte(l.maxDef)})
		if p.present == p.n && l.maxRep == 0 {
			p.def = nil
		}
	}
	return p.values(h.encoding, b)
}

// level reads levels of at most max, a byte each.
func (p *pages) level(which int, b []byte, max int) ([]byte, error) {
	if max == 0 {
		return nil, nil
	}
	codes, err := hybrid(p.levels[which], b, bits.Len(uint(max)), p.n)
	if err != nil {
		return nil, err
	}
	p.levels[which] = codes
	out := sized(p.bytes[which], p.n)
	p.bytes[which] = out
	for i, c := range codes {
		out[i] = byte(c)
	}
	return out, nil
}

// values reads the values of a page that are not null.
func (p *pages) values(encoding int, b []byte) (err error) {
	if p.coded = encoding == encDictionary || encoding == encPlainDictionary; !p.coded {
		return p.vals.decode(p.leaf, encoding, b, p.present, p.t.most)
	}
	if p.dict == nil {
		return errors.New("a page needs a dictionary, and there is none: the file is damaged; get it again")
	}
	if p.present == 0 {
		p.codes = p.codes[:0]
		return nil
	}
	if len(b) == 0 {
		return errShort
	}
	if p.codes, err = hybrid(p.codes, b[1:], int(b[0]), p.present); err != nil {
		return err
	}
	for _, c := range p.codes {
		if uint32(c) >= uint32(p.dict.n) {
			return fmt.Errorf("a page has the code %d, and its dictionary %d values: the file is damaged; get it again", c, p.dict.n)
		}
	}
	return nil
}

// decoder takes zstd off. What it writes has the length that it is given.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
})

var errPacked = errors.New("a page cannot be decompressed: the file is damaged; get it again")

// decompress returns what bytes are without compression: size bytes.
func (p *pages) decompress(b []byte, size int) ([]byte, error) {
	if p.c.codec == 0 {
		if len(b) != size {
			return nil, errPacked
		}
		return b, nil
	}
	p.open = sized(p.open, size)
	n, err := 0, error(nil)
	switch p.c.codec {
	case 1:
		var out []byte
		if n, err = s2.DecodedLen(b); err == nil && n == size {
			if out, err = s2.Decode(p.open, b); err == nil {
				n = copy(p.open, out)
			}
		}
	case 2:
		r, e := gzip.NewReader(bytes.NewReader(b))
		if e != nil {
			return nil, errPacked
		}
		if n, err = io.ReadFull(r, p.open); err == nil {
			var more [1]byte
			if _, e := r.Read(more[:]); e != io.EOF {
				return nil, errPacked
			}
		}
	case 5:
		n, err = hadoopLZ4(p.open, b)
	case 6:
		d, e := decoder()
		if e != nil {
			return nil, e
		}
		var out []byte
		out, err = d.DecodeAll(b, p.open[:0:size])
		n = len(out)
	case 7:
		n, err = lz4(p.open, b)
	default:
		name := "the compression " + fmt.Sprint(p.c.codec) + " of Parquet"
		if p.c.codec == 3 || p.c.codec == 4 {
			name = []string{3: "LZO", 4: "Brotli"}[p.c.codec]
		}
		return nil, fmt.Errorf("it is compressed by %s, which is not read: write it with zstd or Snappy", name)
	}
	if err != nil || n != size {
		return nil, errPacked
	}
	return p.open, nil
}

// hadoopLZ4 reads blocks of LZ4 with two lengths before each, as Hadoop writes them, or a block alone.
func hadoopLZ4(out, b []byte) (n int, err error) {
	for rest := b; len(rest) > 0; {
		if len(rest) < 8 {
			return lz4(out, b)
		}
		plain, packed := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if packed > len(rest)-8 || plain > len(out)-n {
			return lz4(out, b)
		}
		if k, err := lz4(out[n:n+plain], rest[8:8+packed]); err != nil || k != plain {
			return lz4(out, b)
		}
		n, rest = n+plain, rest[8+packed:]
	}
	return n, nil
}

// lz4 reads a block of LZ4 and returns the length of what it wrote.
func lz4(out, b []byte) (n int, err error) {
	length := func(short byte) (int, bool) {
		l := int(short)
		if l < 15 {
			return l, true
		}
		for {
			if len(b) == 0 || l > len(out) {
				return 0, false
			}
			c := b[0]
			b = b[1:]
			if l += int(c); c != 255 {
				return l, true
			}
		}
	}
	for len(b) > 0 {
		token := b[0]
		b = b[1:]
		literals, ok := length(token >> 4)
		if !ok || literals > len(b) || literals > len(out)-n {
			return n, errPacked
		}
		copy(out[n:], b[:literals])
		n, b = n+literals, b[literals:]
		if len(b) == 0 {
			return n, nil
		}
		if len(b) < 2 {
			return n, errPacked
		}
		offset := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		match, ok := length(token & 15)
		if match += 4; !ok || offset == 0 || offset > n || match > len(out)-n {
			return n, errPacked
		}
		for match > 0 { // the last offset bytes, perhaps several times
			k := copy(out[n:n+match], out[n-offset:n])
			n, match = n+k, match-k
		}
	}
	return n, nil
}
