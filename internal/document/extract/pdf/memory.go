package pdf

import (
	"runtime"
	"runtime/debug"

	"github.com/tetratelabs/wazero/experimental"
)

// The memory of the process has four parts: the program with PDFium's code, the
// file, the memory of PDFium, and the rest of the heap of Go. Together they stay
// below the limit at which the parent kills the process.

const (
	wasmPage = 64 << 10
	codeSize = 36 << 20 // of the program with PDFium's code
	minimum  = 32 << 20 // of PDFium and of the heap; PDFium starts with 18 MB, most of them untouched
)

// usable returns the part of the limit that is used. The rest is for what these
// estimates do not cover.
func usable(limit int64) int64 { return limit / 10 * 7 }

// instanceLimit returns the memory that PDFium may use for a file.
func instanceLimit(limit int64, fileSize int) int64 {
	heap := usable(limit) / 8
	return max(usable(limit)-codeSize-heap-int64(fileSize), minimum)
}

// limitHeap limits the heap of Go, with the file, to what PDFium leaves.
func limitHeap(limit int64, instance uint64) {
	debug.SetMemoryLimit(max(usable(limit)-codeSize-int64(instance), minimum))
}

// freeHeap returns unused memory of the heap to the system, if there is much:
// it takes longer than reading a small file.
func freeHeap() {
	const much = 24 << 20
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased > much {
		debug.FreeOSMemory()
	}
}

// linearMemory is the memory of an instance of PDFium. It is outside the heap of
// Go: growing it copies nothing, and closing the instance returns it at once.
type linearMemory struct {
	process  int64  // the limit of the process
	reserved []byte // address space
	size     uint64
	refused  bool // it should have grown beyond its limit
}

// newLinearMemory reserves the address space for a memory of at most limit bytes.
func newLinearMemory(process, limit int64) (*linearMemory, error) {
	reserved, err := reserve(int(limit))
	return &linearMemory{process: process, reserved: reserved}, err
}

// Allocate returns the memory itself.
func (m *linearMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate returns the memory with a new size, or nil if that exceeds its limit.
func (m *linearMemory) Reallocate(size uint64) []byte {
	const step = 8 << 20 // because changing the limit of the heap stops all goroutines
	if size > uint64(len(m.reserved)) || commit(m.reserved[m.size:size]) != nil {
		m.refused = true
		return nil
	}
	if size/step > m.size/step {
		limitHeap(m.process, size)
	}
	m.size = size
	return m.reserved[:size]
}

// Free returns the memory to the system.
func (m *linearMemory) Free() {
	release(m.reserved)
	m.reserved, m.size = nil, 0
	limitHeap(m.process, 0)
}
