package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// library is the compiled PDFium. Each document gets its own instance, so that
// it cannot affect the next one.
type library struct {
	pool      pdfium.Pool
	maxMemory uint32 // bytes of an instance
}

const wasmPage = 64 << 10

// newLibrary loads PDFium's compiled code from the cache directory. If that
// fails, it compiles PDFium, and uncached says why: a slow start is better than
// no documents.
func newLibrary(cacheDir string, memory int64) (l *library, uncached, err error) {
	if cacheDir != "" {
		if l, uncached = compileCached(cacheDir, memory); uncached == nil {
			return l, nil, nil
		}
	}
	l, err = compile(memory, nil)
	return l, uncached, err
}

func compileCached(dir string, memory int64) (*library, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	return compile(memory, cache)
}

// compile compiles PDFium for a process of the given memory, or loads it from a
// cache, which may be nil.
func compile(memory int64, cache wazero.CompilationCache) (*library, error) {
	// The rest of the memory is for the compiled code, the document and its text.
	pages := uint32(memory * 55 / 100 / wasmPage)
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pages).WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config,
		FSConfig: wazero.NewFSConfig(), // no files
		Stdout:   io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, err
	}
	return &library{pool: pool, maxMemory: pages * wasmPage}, nil
}

// instance is PDFium with one document. The first call that fails stores its
// error in err; all later calls do nothing and return 0.
type instance struct {
	pdfium    pdfium.Pdfium
	module    api.Module
	memory    api.Memory
	maxMemory uint32
	functions map[string]api.Function
	stack     [10]uint64 // arguments and result of a call
	scratch   uint32     // address of a buffer of scratchSize for results
	err       error
}

const (
	scratchSize = 4 << 10
	spareRoom   = 2 << 20  // free memory of a new instance
	workRoom    = 48 << 20 // memory for the work on a large document or an image
)

var errWASM = errors.New("PDFium failed")

// open returns an instance with memory for a document of the given size.
func (l *library) open(size int) (*instance, error) {
	p, err := l.pool.GetInstance(10 * time.Second)
	if err != nil {
		return nil, err
	}
	i := &instance{pdfium: p, maxMemory: l.maxMemory, functions: map[string]api.Function{}}
	if i.module, err = moduleOf(p); err != nil {
		i.close()
		return nil, err
	}
	i.memory = i.module.Memory()
	if size > spareRoom {
		i.grow(size + workRoom)
	}
	i.scratch = uint32(i.call("malloc", scratchSize))
	if i.err != nil || i.scratch == 0 {
		i.close()
		return nil, fmt.Errorf("%w at the start", errWASM)
	}
	return i, nil
}

// moduleOf returns the WebAssembly module of an instance. A call of the package
// pdfium costs about ten calls of the module, and there are several for each
// character of a document.
func moduleOf(p pdfium.Pdfium) (api.Module, error) {
	v := reflect.ValueOf(p.GetImplementation())
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		if field := v.FieldByName("Module"); field.IsValid() && field.CanInterface() {
			if m, ok := field.Interface().(api.Module); ok {
				return m, nil
			}
		}
	}
	return nil, errors.New("this version of go-pdfium does not export its module")
}

func (i *instance) close() { i.pdfium.Close() }

// grow adds memory to the instance. Growing copies the memory, so one large step
// is cheaper than many small ones.
func (i *instance) grow(bytes int) {
	left := (i.maxMemory - i.memory.Size()) / wasmPage
	i.memory.Grow(min(uint32(bytes/wasmPage), left))
}

// outOfMemory reports whether the instance failed because it reached its memory
// limit, at which it aborts.
func (i *instance) outOfMemory() bool {
	return i.err != nil && i.memory.Size() > i.maxMemory-i.maxMemory/4
}

// call calls a function of PDFium and returns its result, if it has one.
func (i *instance) call(name string, args ...uint64) uint64 {
	if i.err != nil {
		return 0
	}
	f, ok := i.functions[name]
	if !ok {
		f = i.module.ExportedFunction(name)
		i.functions[name] = f
	}
	if f == nil {
		i.err = fmt.Errorf("%w: it lacks the function %s", errWASM, name)
		return 0
	}
	clear(i.stack[copy(i.stack[:], args):])
	if err := f.CallWithStack(context.Background(), i.stack[:]); err != nil {
		i.err = fmt.Errorf("%w: %w", errWASM, err)
		return 0
	}
	return i.stack[0]
}

// callInt calls a function that returns a C int.
func (i *instance) callInt(name string, args ...uint64) int {
	return int(int32(uint32(i.call(name, args...))))
}

// callFloat calls a function that returns a C float.
func (i *instance) callFloat(name string, args ...uint64) float64 {
	return float64(api.DecodeF32(i.call(name, args...)))
}

// float32At returns the float at an address of the instance's memory.
func (i *instance) float32At(address uint32) float64 {
	v, _ := i.memory.ReadFloat32Le(address)
	return clamp(float64(v))
}

// float64At returns the double at an address of the instance's memory.
func (i *instance) float64At(address uint32) float64 {
	v, _ := i.memory.ReadFloat64Le(address)
	return clamp(v)
}

// clamp limits a coordinate to what a page can have.
func clamp(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-1e6, min(1e6, v))
}
