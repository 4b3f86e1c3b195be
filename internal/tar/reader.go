package tar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The kinds of members, as archives name them.
const (
	TypeReg           = '0'
	TypeLink          = '1'
	TypeSymlink       = '2'
	TypeDir           = '5'
	TypeXGlobalHeader = 'g' // records for the members that follow
	TypeGNUSparse     = 'S'

	typeRegOld  = 0 // before POSIX
	typeXHeader = 'x'
	typeGNUName = 'L'
	typeGNULink = 'K'
)

// block is what everything in an archive is padded to.
const block = 512

// recordsMost is how many bytes the records or the long name of a member may be.
const recordsMost = 1 << 20

// ErrHeader is an archive that is damaged, or no archive.
var ErrHeader = errors.New("invalid tar header")

// Header is one member.
type Header struct {
	Name       string
	Typeflag   byte
	Size       int64 // of its content
	PAXRecords map[string]string
}

// Reader reads an archive, a member at a time.
type Reader struct {
	r    io.Reader
	left int64 // of the content of this member
	pad  int64 // behind it
	err  error // that ends the archive
}

// NewReader returns a Reader of the archive in r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Read reads the content of the member that Next returned.
func (t *Reader) Read(p []byte) (int, error) {
	if t.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > t.left {
		p = p[:t.left]
	}
	n, err := t.r.Read(p)
	t.left -= int64(n)
	if err == io.EOF {
		if err = nil; t.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// Next goes on to the next member. At the end of the archive the error is io.EOF.
func (t *Reader) Next() (*Header, error) {
	if t.err != nil {
		return nil, t.err
	}
	h, err := t.next()
	t.err = err
	return h, err
}

func (t *Reader) next() (*Header, error) {
	var long string // a name from a member of GNU
	var records map[string]string
	for {
		h, err := t.header()
		if err != nil {
			return nil, err
		}
		switch h.Typeflag {
		case typeXHeader:
			if records, err = t.records(); err != nil {
				return nil, err
			}
			continue
		case TypeXGlobalHeader:
			all, err := t.records()
			if err == nil {
				err = h.extend(all)
			}
			h.Size = 0
			return h, err
		case typeGNUName, typeGNULink:
			text, err := t.small()
			if err != nil {
				return nil, err
			}
			if h.Typeflag == typeGNUName {
				long = cString(text)
			}
			continue
		}
		if err := h.extend(records); err != nil {
			return nil, err
		}
		if long != "" {
			h.Name = long
		}
		if h.Typeflag == typeRegOld {
			h.Typeflag = TypeReg
			if strings.HasSuffix(h.Name, "/") {
				h.Typeflag = TypeDir
			}
		}
		t.content(h)
		return h, nil
	}
}

// extend gives a member what its records say of it.
func (h *Header) extend(records map[string]string) error {
	h.PAXRecords = records
	if name := records["path"]; name != "" {
		h.Name = name
	}
	if name := records["GNU.sparse.name"]; name != "" { // that the member would have
		h.Name = name
	}
	if size := records["size"]; size != "" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 {
			return ErrHeader
		}
		h.Size = n
	}
	return nil
}

// content says how much of what follows belongs to a member.
func (t *Reader) content(h *Header) {
	if h.Typeflag >= TypeLink && h.Typeflag <= '6' { // links, devices, folders and pipes have none
		h.Size = 0
	}
	t.left, t.pad = h.Size, -h.Size&(block-1)
}

// header reads the block that begins a member, behind what is left of the last.
func (t *Reader) header() (*Header, error) {
	if _, err := io.CopyN(io.Discard, t.r, t.left); err != nil {
		return nil, cut(err)
	}
	if _, err := io.CopyN(io.Discard, t.r, t.pad); err != nil {
		return nil, err // io.EOF: the last padding may be missing
	}
	t.left, t.pad = 0, 0
	var b [block]byte
	for range 2 { // two empty blocks end an archive, or the file does
		if _, err := io.ReadFull(t.r, b[:]); err != nil {
			return nil, err // io.EOF before the first byte
		}
		if b != [block]byte{} {
			return t.parse(&b)
		}
	}
	return nil, io.EOF
}

// cut says of the end of the file that it comes too early.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parse reads the fields of a header.
func (t *Reader) parse(b *[block]byte) (*Header, error) {
	if !summed(b) {
		return nil, ErrHeader
	}
	size, err := number(b[124:136])
	if err != nil || size < 0 {
		return nil, ErrHeader
	}
	h := &Header{Name: cString(b[:100]), Typeflag: b[156], Size: size}
	const posix = "ustar\x00"
	if prefix := cString(b[345:500]); string(b[257:263]) == posix && prefix != "" {
		h.Name = prefix + "/" + h.Name
	}
	t.content(h)
	return h, nil
}

// summed reports whether the checksum of a header is right: the sum of its bytes,
// of which those of the checksum count as blanks. Old programs took them as
// signed.
func summed(b *[block]byte) bool {
	want, err := number(b[148:156])
	unsigned, signed := int64(0), int64(0)
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return err == nil && (want == unsigned || want == signed)
}

// number reads a field of octal digits, or of bits if the first is set.
func number(b []byte) (int64, error) {
	if b[0]&0x80 != 0 {
		invert := byte(0)
		if b[0]&0x40 != 0 { // negative
			invert = 0xff
		}
		var n uint64
		for i, c := range b {
			if c ^= invert; i == 0 {
				c &= 0x7f
			}
			if n>>56 > 0 {
				return 0, ErrHeader
			}
			n = n<<8 | uint64(c)
		}
		if n>>63 > 0 {
			return 0, ErrHeader
		}
		if invert > 0 {
			return ^int64(n), nil
		}
		return int64(n), nil
	}
	text := cString(bytes.Trim(b, " \x00"))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 8, 63)
	return int64(n), err
}

// cString returns what is before the first zero byte.
func cString(b []byte) string {
	front, _, _ := bytes.Cut(b, []byte{0})
	return string(front)
}

// small reads the whole content of a member that says something of the next.
func (t *Reader) small() ([]byte, error) {
	if t.left > recordsMost {
		return nil, fmt.Errorf("%w: %d bytes of records; the limit is %d", ErrHeader, t.left, recordsMost)
	}
	b := make([]byte, t.left)
	_, err := io.ReadFull(t, b)
	return b, cut(err)
}

// records reads extended records: "LENGTH KEY=VALUE\n".
func (t *Reader) records() (map[string]string, error) {
	b, err := t.small()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for len(b) > 0 {
		digits, _, ok := bytes.Cut(b, []byte{' '})
		n, err := strconv.ParseUint(string(digits), 10, 32)
		if !ok || err != nil || n > uint64(len(b)) || int(n) < len(digits)+2 || b[n-1] != '\n' {
			return nil, ErrHeader
		}
		key, value, ok := strings.Cut(string(b[len(digits)+1:n-1]), "=")
		if !ok || key == "" || strings.ContainsRune(key, 0) || strings.ContainsRune(value, 0) && (key == "path" || key == "linkpath") {
			return nil, ErrHeader
		}
		out[key] = value
		b = b[n:]
	}
	return out, nil
}
