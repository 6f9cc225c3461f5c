package saved

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// blockSize is the number of bytes that have one checksum.
const blockSize = 1 << 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumsOf returns the checksums of the blocks of some bytes.
func sumsOf(b []byte) []uint32 {
	sums := make([]uint32, 0, len(b)/blockSize+1)
	for len(b) > 0 {
		n := min(len(b), blockSize)
		sums = append(sums, crc32.Checksum(b[:n], castagnoli))
		b = b[n:]
	}
	return sums
}

// DataWriter writes a data file.
type DataWriter struct {
	w    *bufio.Writer
	at   int64
	sum  uint32 // of the block that is being written
	sums []uint32
	err  error
}

func newDataWriter(w io.Writer) *DataWriter { return &DataWriter{w: bufio.NewWriterSize(w, 1<<20)} }

// Add writes some bytes and returns where they are. An error is returned at the end.
func (d *DataWriter) Add(b []byte) (at int64) {
	at = d.at
	for len(b) > 0 && d.err == nil {
		n := min(len(b), blockSize-int(d.at%blockSize))
		d.sum = crc32.Update(d.sum, castagnoli, b[:n])
		_, d.err = d.w.Write(b[:n])
		d.at += int64(n)
		if b = b[n:]; d.at%blockSize == 0 {
			d.sums = append(d.sums, d.sum)
			d.sum = 0
		}
	}
	return at
}

// AddUint32s writes some numbers and returns where they are.
func (d *DataWriter) AddUint32s(all []uint32) (at int64) {
	d.align()
	at = d.at
	d.Add(bytesOf(all))
	return at
}

// AddUint64s writes some numbers and returns where they are.
func (d *DataWriter) AddUint64s(all []uint64) (at int64) {
	d.align()
	at = d.at
	d.Add(bytesOf(all))
	return at
}

// align makes the next bytes begin where numbers may be.
func (d *DataWriter) align() {
	if rest := d.at % 8; rest != 0 {
		d.Add(make([]byte, 8-rest))
	}
}

func (d *DataWriter) finish() error {
	if d.at%blockSize != 0 {
		d.sums = append(d.sums, d.sum)
	}
	return errors.Join(d.err, d.w.Flush())
}

// bytesOf returns the memory of some numbers.
func bytesOf[N uint32 | uint64](all []N) []byte {
	if len(all) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), len(all)*int(unsafe.Sizeof(all[0])))
}

// Data is a data file in memory. It stays there until the process ends, because texts of
// answers may be in it.
type Data struct {
	name    string
	file    *os.File    // nil if it was read
	info    os.FileInfo // when it was opened
	b       []byte
	sums    []uint32
	checked []atomic.Uint32 // for each block: not 0 once it was verified
	unused  atomic.Bool     // see Release
}

// errForeign is returned on machines that keep numbers in another order.
var errForeign = errors.New("files of this kind are not used on this processor")

// openData maps a data file, or reads it where that is not possible.
func openData(path string, size int64, sums []uint32) (*Data, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errForeign
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			_ = f.Close()
		}
	}()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() != size || size > int64(len(sums))*blockSize || size <= int64(len(sums)-1)*blockSize:
		return nil, fmt.Errorf("%s has %d bytes, want %d", path, info.Size(), size)
	}
	d := &Data{
		name:    path,
		sums:    sums,
		checked: make([]atomic.Uint32, len(sums)),
	}
	if size == 0 {
		return d, nil
	}
	if d.b, err = mapFile(f, size); err != nil {
		d.b = make([]byte, size)
		if _, err := io.ReadFull(f, d.b); err != nil {
			return nil, err
		}
		return d, nil
	}
	keep = true
	d.file = f
	d.info = info
	mapped.add(d)
	return d, nil
}

// Changed reports whether the file was written to or cut short since it was opened. A block
// is verified once, so that what happens to it later is noticed only in this way.
func (d *Data) Changed() bool {
	if d.file == nil {
		return false
	}
	now, err := d.file.Stat()
	if d.unused.Load() {
		return false
	}
	return err != nil || now.Size() != d.info.Size() || !now.ModTime().Equal(d.info.ModTime())
}

// Verify panics, with a value that Broken recognizes, if the file was changed.
func (d *Data) Verify() {
	if d.Changed() {
		panic(&damage{d, "it was changed while it was in use"})
	}
}

// Release closes the file, whose name was removed, when only requests that have begun
// before may still use it. It is not watched any more. Its memory stays.
func (d *Data) Release() {
	if d.file != nil && !d.unused.Swap(true) {
		_ = d.file.Close()
	}
}

// Size returns the size of the file.
func (d *Data) Size() int64 { return int64(len(d.b)) }

// Bytes returns some bytes of the file. They must not be modified.
func (d *Data) Bytes(at int64, n int) []byte {
	if n == 0 {
		return nil
	}
	if at < 0 || at > int64(len(d.b))-int64(n) {
		panic(&damage{d, "it is referred to beyond its end"})
	}
	for block := at / blockSize; block <= (at+int64(n)-1)/blockSize; block++ {
		if d.checked[block].Load() == 0 {
			d.check(block)
		}
	}
	return d.b[at : at+int64(n) : at+int64(n)]
}

func (d *Data) check(block int64) {
	from := block * blockSize
	to := min(from+blockSize, int64(len(d.b)))
	if crc32.Checksum(d.b[from:to], castagnoli) != d.sums[block] {
		panic(&damage{d, fmt.Sprintf("block %d differs from its checksum", block)})
	}
	d.checked[block].Store(1)
}

// Uint32s returns some numbers of the file. They must not be modified.
func (d *Data) Uint32s(at int64, n int) []uint32 { return numbers[uint32](d, at, n) }

// Uint64s returns some numbers of the file. They must not be modified.
func (d *Data) Uint64s(at int64, n int) []uint64 { return numbers[uint64](d, at, n) }

func numbers[N uint32 | uint64](d *Data, at int64, n int) []N {
	var one N
	size := int(unsafe.Sizeof(one))
	if n < 0 || n > len(d.b)/size || at%int64(size) != 0 {
		panic(&damage{d, "it is referred to in a way that is not possible"})
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*N)(unsafe.Pointer(unsafe.SliceData(d.Bytes(at, n*size)))), n)
}

// damage is the value of a panic.
type damage struct {
	of   *Data
	what string
}

func (d *damage) Error() string { return d.of.name + " is damaged: " + d.what }

// Broken returns the data file to which a panic, whose value recover returned, is due: one
// that is damaged, or that cannot be read any more. The latter is a fault of memory, which is
// a panic only in goroutines that have called debug.SetPanicOnFault, and ends the process in
// others. It returns nil if the panic has another cause.
func Broken(recovered any) *Data {
	switch v := recovered.(type) {
	case *damage:
		return v.of
	case interface {
		runtime.Error
		Addr() uintptr
	}:
		return mapped.find(v.Addr())
	}
	return nil
}

// mapped is what this process has mapped.
var mapped mappings

type mappings struct {
	mu  sync.Mutex
	all []*Data // guarded by mu
}

func (m *mappings) add(d *Data) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, d)
}

// find returns the file that is mapped at an address, or nil.
func (m *mappings) find(address uintptr) *Data {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.all {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(d.b)))
		if address >= from && address-from < uintptr(len(d.b)) {
			return d
		}
	}
	return nil
}
