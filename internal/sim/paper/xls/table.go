package xls

import (
	"encoding/binary"
	"unicode/utf16"
)

// table appends the table of texts. Each text has the width that it needs. One that
// does not fit into the record continues in the next one, which begins with a byte
// for the width of the rest: a text may become wide only there.
func (w *writer) table(b []byte) []byte {
	t := table{out: b, id: 0x00fc}
	t.data = binary.LittleEndian.AppendUint32(t.data, w.uses)
	t.data = binary.LittleEndian.AppendUint32(t.data, uint32(len(w.texts)))
	for _, s := range w.texts {
		t.add(utf16.Encode([]rune(s)))
	}
	t.flush()
	return t.out
}

type table struct {
	out  []byte
	id   uint16 // of the record in progress
	data []byte
}

func (t *table) flush() {
	t.out = record(t.out, t.id, t.data)
	t.id, t.data = 0x003c, nil
}

// add adds a text. Its length and its first character are in the same record.
func (t *table) add(units []uint16) {
	const head = 3
	if maxRecord-len(t.data) < head+2 {
		t.flush()
	}
	t.data = binary.LittleEndian.AppendUint16(t.data, uint16(len(units)))
	for first := true; first || len(units) > 0; first = false {
		if !first {
			t.flush()
		}
		room := maxRecord - len(t.data) - 1
		n := min(len(units), room)
		isWide := wide(units[:n])
		if isWide {
			n = min(n, room/2)
		}
		flag := byte(0)
		if isWide {
			flag = 1
		}
		t.data = appendUnits(append(t.data, flag), units[:n], isWide)
		units = units[n:]
	}
}
