package report

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/edgewise-ml/edgewise/train"
)

// Events is a log that TensorBoard reads: records of protocol buffers, each with
// the checksums of TFRecord. A nil log keeps nothing.
type Events struct {
	f   *os.File
	err error // the first
}

// CreateEvents begins a log in a folder, which it makes.
func CreateEvents(dir string) (*Events, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("--log tensorboard:%s: %w", dir, err)
	}
	now := time.Now()
	name := fmt.Sprintf("events.out.tfevents.%010d.%d.gatbench", now.Unix(), now.Nanosecond())
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--log tensorboard:%s: %w", dir, err)
	}
	l := &Events{f: f}
	l.write(protoString(nil, fieldVersion, "brain.Event:2"))
	return l, nil
}

// The fields of Event, Summary and Summary.Value that are used.
const (
	fieldTime, fieldStep, fieldVersion, fieldSummary = 1, 2, 3, 5
	fieldValue                                       = 1
	fieldTag, fieldSimple                            = 1, 2
)

// Epoch logs the numbers of one epoch.
func (l *Events) Epoch(e train.Epoch) {
	if l == nil {
		return
	}
	var summary []byte
	for _, v := range []struct {
		tag   string
		value float64
	}{
		{"loss/train", e.Loss}, {"loss/validation", e.Val.Loss},
		{"accuracy/train", e.Train.Accuracy}, {"accuracy/validation", e.Val.Accuracy}, {"accuracy/test", e.Test.Accuracy},
		{"rate", e.Rate}, {"epoch_ms", Milliseconds(e.Took)},
	} {
		summary = protoBytes(summary, fieldValue, protoFloat(protoString(nil, fieldTag, v.tag), fieldSimple, v.value))
	}
	event := binary.AppendUvarint(append([]byte(nil), fieldStep<<3), uint64(e.N))
	l.write(protoBytes(event, fieldSummary, summary))
}

// write appends an event with the time of this moment.
func (l *Events) write(event []byte) {
	seconds := float64(time.Now().UnixMicro()) / 1e6
	timed := binary.LittleEndian.AppendUint64([]byte{fieldTime<<3 | 1}, math.Float64bits(seconds))
	if _, err := l.f.Write(record(append(timed, event...))); err != nil && l.err == nil {
		l.err = err
	}
}

// Close ends the log and returns the first error of it.
func (l *Events) Close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.err, l.f.Close())
}

// record frames data as TFRecord does: length, its checksum, data, its checksum.
func record(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	return binary.LittleEndian.AppendUint32(append(b, data...), masked(data))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is a CRC-32C turned by 15 bits with a constant added, so that checksums
// of data which hold checksums are no fixed points.
func masked(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// protoBytes appends a field of bytes.
func protoBytes(b []byte, field byte, data []byte) []byte {
	b = binary.AppendUvarint(append(b, field<<3|2), uint64(len(data)))
	return append(b, data...)
}

func protoString(b []byte, field byte, s string) []byte { return protoBytes(b, field, []byte(s)) }

// protoFloat appends a field of four bytes.
func protoFloat(b []byte, field byte, v float64) []byte {
	return binary.LittleEndian.AppendUint32(append(b, field<<3|5), math.Float32bits(float32(v)))
}
