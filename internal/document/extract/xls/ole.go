package xls

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// Values of the compound file.
const (
	signature   = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
	headerSize  = 512
	lastSector  = 0xfffffffa // larger numbers have a meaning of their own
	endOfChain  = 0xfffffffe
	entrySize   = 128 // of the directory
	maxEntries  = 4096
	streamType  = 2
	rootType    = 5
	miniShift   = 6
	headerFATs  = 109 // numbers of sectors of the table in the header
	miniCutoff  = 4096
	minShift    = 7
	maxShift    = 16
	damagedFile = "it is cut off or corrupt"
)

var errDamaged = &Error{damagedFile}

// compound is a compound file: a small file system, in which a table has for each
// sector the number of the next.
type compound struct {
	file  []byte
	shift uint     // the logarithm of the size of a sector
	table []uint32 // the next sector of each
}

// workbookStream returns the stream of records of a workbook.
func workbookStream(file []byte) ([]byte, error) {
	if len(file) < headerSize || !bytes.HasPrefix(file, []byte(signature)) {
		return nil, invalid("%s", notCompound(file))
	}
	f := compound{file: file, shift: uint(u16(file, 30))}
	if f.shift < minShift || f.shift > maxShift || u16(file, 28) != 0xfffe {
		return nil, errDamaged
	}
	if err := f.readTable(); err != nil {
		return nil, err
	}
	directory, err := f.chain(u32(file, 48), f.table, f.sector, len(file))
	if err != nil {
		return nil, err
	}
	return f.find(directory)
}

// notCompound says what a file that is no compound file is.
func notCompound(file []byte) string {
	start := bytes.ToLower(bytes.TrimLeft(file[:min(len(file), 1024)], "\xef\xbb\xbf \t\r\n"))
	switch {
	case len(file) == 0:
		return "it is empty"
	case bytes.HasPrefix(file, []byte(signature)):
		return damagedFile
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return "it is a web page"
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		return "it is an archive, such as a workbook of Excel 2007, and not one of Excel 97 to 2003"
	}
	return "it is not a workbook of Excel 97 to 2003"
}

// sector returns a sector, or nil if the file ends before it.
func (f *compound) sector(n uint32) []byte {
	begin := (int64(n) + 1) << f.shift
	if begin >= int64(len(f.file)) {
		return nil
	}
	return f.file[begin:min(begin+1<<f.shift, int64(len(f.file)))]
}

// readTable reads the table of sectors. Its own sectors are listed in the header, and
// in further sectors that form a chain.
func (f *compound) readTable() error {
	most := len(f.file)>>f.shift + 1 // sectors of the file
	list := make([]uint32, 0, headerFATs)
	for n := range headerFATs {
		list = append(list, u32(f.file, 76+4*n))
	}
	next := u32(f.file, 68)
	for range most {
		if next >= lastSector {
			break
		}
		more := f.sector(next)
		if len(more) < 1<<f.shift {
			return errDamaged
		}
		for at := 0; at < len(more)-4; at += 4 {
			list = append(list, u32(more, at))
		}
		next = u32(more, len(more)-4)
	}
	if next < lastSector {
		return errDamaged // a loop
	}
	for _, n := range list {
		if n >= lastSector {
			continue
		}
		part := f.sector(n)
		if part == nil || len(f.table) > most {
			return errDamaged
		}
		for at := 0; at+4 <= len(part); at += 4 {
			f.table = append(f.table, u32(part, at))
		}
	}
	return nil
}

// chain returns the bytes of a chain of sectors, at most size.
func (f *compound) chain(n uint32, table []uint32, sector func(uint32) []byte, size int) ([]byte, error) {
	var out []byte
	for range len(table) + 1 {
		if n == endOfChain || len(out) >= size {
			return out[:min(len(out), size)], nil
		}
		part := []byte(nil)
		if n < lastSector {
			part = sector(n)
		}
		if part == nil || int64(n) >= int64(len(table)) {
			return nil, errDamaged
		}
		out = append(out, part...)
		n = table[n]
	}
	return nil, errDamaged // a loop
}

// entry is an entry of the directory.
type entry struct {
	name  string
	kind  byte
	start uint32
	size  int
}

// find returns the stream of the workbook.
func (f *compound) find(directory []byte) ([]byte, error) {
	var root, book *entry
	old := false
	for at := 0; at+entrySize <= len(directory) && at/entrySize < maxEntries; at += entrySize {
		e := readEntry(directory[at : at+entrySize])
		switch {
		case e.kind == rootType && root == nil:
			root = &e
		case e.kind != streamType:
		case strings.EqualFold(e.name, "Workbook") && book == nil:
			book = &e
		case strings.EqualFold(e.name, "Book"):
			old = true
		case e.name == "EncryptedPackage":
			return nil, errEncrypted
		}
	}
	switch {
	case book == nil && old:
		return nil, invalid("it is a workbook of Excel 95 or older")
	case book == nil || root == nil:
		return nil, invalid("it is not a workbook but another kind of file of Office")
	case book.size > len(f.file):
		return nil, errDamaged
	}
	stream, err := f.stream(root, book)
	if err == nil && len(stream) < book.size {
		err = errDamaged
	}
	return stream, err
}

// stream returns the bytes of a stream. Short ones are in parts of the root's stream.
func (f *compound) stream(root, e *entry) ([]byte, error) {
	if e.size >= miniCutoff {
		return f.chain(e.start, f.table, f.sector, e.size)
	}
	container, err := f.chain(root.start, f.table, f.sector, min(root.size, len(f.file)))
	if err != nil {
		return nil, err
	}
	packed, err := f.chain(u32(f.file, 60), f.table, f.sector, len(f.file))
	if err != nil {
		return nil, err
	}
	table := make([]uint32, len(packed)/4)
	for n := range table {
		table[n] = u32(packed, 4*n)
	}
	return f.chain(e.start, table, func(n uint32) []byte {
		begin := int64(n) << miniShift
		if begin >= int64(len(container)) {
			return nil
		}
		return container[begin:min(begin+1<<miniShift, int64(len(container)))]
	}, e.size)
}

func readEntry(b []byte) entry {
	length := min(max(int(u16(b, 64))/2-1, 0), 31)
	name := make([]uint16, length)
	for n := range name {
		name[n] = u16(b, 2*n)
	}
	return entry{
		name:  string(utf16.Decode(name)),
		kind:  b[66],
		start: u32(b, 116),
		size:  int(u32(b, 120)),
	}
}

func u16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
