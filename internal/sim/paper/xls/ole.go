package xls

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// Values of the compound file.
const (
	sector     = 512
	perTable   = sector / 4 // entries of the table of sectors
	headerFATs = 109        // sectors of the table that the header has room for
	miniCutoff = 4096       // shorter streams are stored in another way
	free       = 0xffffffff
	endOfChain = 0xfffffffe
	tableEntry = 0xfffffffd
)

// compound returns a compound file with the stream of a workbook: the header, the
// stream, the directory and the table of sectors.
func compound(stream []byte) ([]byte, error) {
	if len(stream) < miniCutoff {
		stream = append(stream, make([]byte, miniCutoff-len(stream))...)
	}
	size := len(stream)
	streamSectors := (size + sector - 1) / sector
	used := streamSectors + 1 // and the directory
	tables := 1
	for tables*perTable < used+tables {
		tables++
	}
	if tables > headerFATs {
		return nil, fmt.Errorf("a workbook has at most %d bytes, and this has %d", headerFATs*perTable*sector, size)
	}
	var b bytes.Buffer
	b.Write(header(streamSectors, tables))
	b.Write(stream)
	b.Write(make([]byte, streamSectors*sector-size))
	b.Write(directory(size))
	for n := range tables * perTable {
		next := uint32(n + 1)
		switch {
		case n == streamSectors-1, n == streamSectors:
			next = endOfChain
		case n >= used+tables:
			next = free
		case n >= used:
			next = tableEntry
		}
		b.Write(binary.LittleEndian.AppendUint32(nil, next))
	}
	return b.Bytes(), nil
}

func header(streamSectors, tables int) []byte {
	b := []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	b = append(b, make([]byte, 16)...)
	b = append(b, words(0x3e, 3, 0xfffe, 9, 6, 0, 0, 0)...)
	for _, n := range []int{
		0,
		tables,
		streamSectors, // where the directory begins
		0,
		miniCutoff,
		endOfChain,
		0,
		endOfChain,
		0,
	} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for n := range headerFATs {
		at := uint32(free)
		if n < tables {
			at = uint32(streamSectors + 1 + n)
		}
		b = binary.LittleEndian.AppendUint32(b, at)
	}
	return b
}

// directory returns the sector of the directory: its root, the stream, and two empty
// entries.
func directory(size int) []byte {
	b := directoryEntry("Root Entry", 5, 1, endOfChain, 0)
	b = append(b, directoryEntry("Workbook", 2, free, 0, size)...)
	b = append(b, directoryEntry("", 0, free, 0, 0)...)
	return append(b, directoryEntry("", 0, free, 0, 0)...)
}

func directoryEntry(name string, kind byte, child, start uint32, size int) []byte {
	units := utf16.Encode([]rune(name))
	b := make([]byte, 128)
	appendUnits(b[:0], units, true)
	if name != "" {
		binary.LittleEndian.PutUint16(b[64:], uint16(2*len(units)+2))
	}
	b[66], b[67] = kind, 1
	binary.LittleEndian.PutUint32(b[68:], free)
	binary.LittleEndian.PutUint32(b[72:], free)
	binary.LittleEndian.PutUint32(b[76:], child)
	binary.LittleEndian.PutUint32(b[116:], start)
	binary.LittleEndian.PutUint32(b[120:], uint32(size))
	return b
}
