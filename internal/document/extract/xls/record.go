package xls

// The records that are read. All others are passed over.
const (
	recFormula  = 0x0006
	recEOF      = 0x000a
	recDateMode = 0x0022
	recFilePass = 0x002f
	recContinue = 0x003c
	recSheet    = 0x0085
	recMulRK    = 0x00bd
	recRString  = 0x00d6
	recSST      = 0x00fc
	recLabelSST = 0x00fd
	recNumber   = 0x0203
	recLabel    = 0x0204
	recBoolErr  = 0x0205
	recString   = 0x0207
	recRK       = 0x027e
	recBOF      = 0x0809
)

// Values of BOF.
const (
	version8     = 0x0600
	globals      = 0x0005
	worksheet    = 0x0010
	headerLength = 4 // of a record
)

var errEncrypted = &Error{"it is encrypted and needs a password"}

// records reads the records of a stream one after the other.
type records struct {
	stream []byte
	at     int
	left   int // records that may still be read
	id     uint16
	data   []byte
}

// next reads the next record. It returns false at the end of the stream and an error
// for a record that the stream does not hold as a whole.
func (r *records) next() (bool, error) {
	if r.left--; r.left < 0 {
		return false, invalid("it has more than %d records", maxRecords)
	}
	if len(r.stream)-r.at < headerLength {
		return false, nil
	}
	r.id = u16(r.stream, r.at)
	length := int(u16(r.stream, r.at+2))
	begin := r.at + headerLength
	if length > len(r.stream)-begin {
		return false, errDamaged
	}
	r.data, r.at = r.stream[begin:begin+length], begin+length
	return true, nil
}

// continued returns the data of the record and of those that continue it.
func (r *records) continued() ([][]byte, error) {
	parts := [][]byte{r.data}
	for len(r.stream)-r.at >= headerLength && u16(r.stream, r.at) == recContinue {
		if ok, err := r.next(); err != nil || !ok {
			return nil, err
		}
		parts = append(parts, r.data)
	}
	return parts, nil
}

// bof reads a record that must be the first of a part of the stream, and returns the
// type of the part.
func (r *records) bof() (uint16, error) {
	ok, err := r.next()
	switch {
	case err != nil:
		return 0, err
	case !ok || r.id&0xff != recBOF&0xff || len(r.data) < 4:
		return 0, errDamaged
	case r.id != recBOF || u16(r.data, 0) != version8:
		return 0, invalid("it is a workbook of Excel 95 or older")
	}
	return u16(r.data, 2), nil
}
