package saved

import (
	"encoding/binary"
	"errors"
	"math"
)

// Encoder writes values that a Decoder reads in the same order.
type Encoder struct{ B []byte }

// Uint writes a number.
func (e *Encoder) Uint(n uint64) { e.B = binary.AppendUvarint(e.B, n) }

// Int writes a number that may be negative.
func (e *Encoder) Int(n int64) { e.B = binary.AppendVarint(e.B, n) }

// Bool writes a truth value.
func (e *Encoder) Bool(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	e.Uint(n)
}

// String writes a text.
func (e *Encoder) String(s string) {
	e.Uint(uint64(len(s)))
	e.B = append(e.B, s...)
}

// Strings writes some texts.
func (e *Encoder) Strings(all []string) {
	e.Uint(uint64(len(all)))
	for _, s := range all {
		e.String(s)
	}
}

// Uint32s writes some numbers, each in four bytes.
func (e *Encoder) Uint32s(all []uint32) {
	e.Uint(uint64(len(all)))
	for _, n := range all {
		e.B = binary.LittleEndian.AppendUint32(e.B, n)
	}
}

// Uint64s writes some numbers, each in eight bytes.
func (e *Encoder) Uint64s(all []uint64) {
	e.Uint(uint64(len(all)))
	for _, n := range all {
		e.B = binary.LittleEndian.AppendUint64(e.B, n)
	}
}

// errShort is the error of a Decoder. Its bytes were verified, so that only a fault of the
// program leads to it.
var errShort = errors.New("the saved state ends too early, or has a number that is too large")

// Decoder reads the values of an Encoder. After an error it returns zero values.
type Decoder struct {
	b   []byte
	err error
}

// NewDecoder returns a decoder of some bytes.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail makes err the error, unless there is one.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// take returns the next n bytes.
func (d *Decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.Fail(errShort)
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

// Uint reads a number.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.Fail(errShort)
		return 0
	}
	d.b = d.b[size:]
	return n
}

// Int reads a number that may be negative.
func (d *Decoder) Int() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.Fail(errShort)
		return 0
	}
	d.b = d.b[size:]
	return n
}

// Uint32 reads a number of at most 32 bits.
func (d *Decoder) Uint32() uint32 {
	n := d.Uint()
	if n > math.MaxUint32 {
		d.Fail(errShort)
	}
	return uint32(n)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool { return d.Uint() != 0 }

// Len reads the number of values that follow, each of which takes at least size bytes.
func (d *Decoder) Len(size int) int {
	n := d.Uint()
	if n > uint64(len(d.b)/size) {
		d.Fail(errShort)
		return 0
	}
	return int(n)
}

// String reads a text.
func (d *Decoder) String() string { return string(d.take(d.Uint())) }

// Strings reads some texts. They share one piece of memory.
func (d *Decoder) Strings() []string {
	ends := make([]int, d.Len(1))
	var together []byte
	for i := range ends {
		together = append(together, d.take(d.Uint())...)
		ends[i] = len(together)
	}
	if d.err != nil {
		return nil
	}
	text := string(together)
	all := make([]string, len(ends))
	from := 0
	for i, end := range ends {
		all[i] = text[from:end]
		from = end
	}
	return all
}

// Uint32s reads some numbers.
func (d *Decoder) Uint32s() []uint32 {
	b := d.take(4 * uint64(d.Len(4)))
	all := make([]uint32, len(b)/4)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return all
}

// Uint64s reads some numbers.
func (d *Decoder) Uint64s() []uint64 {
	b := d.take(8 * uint64(d.Len(8)))
	all := make([]uint64, len(b)/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}

// Copy reads as many bytes as fit.
func (d *Decoder) Copy(into []byte) { copy(into, d.take(uint64(len(into)))) }
