package pdf

import (
	"context"
	"errors"
	"fmt"
	"math"
	_ "unsafe" // for go:linkname

	_ "github.com/klippa-app/go-pdfium/webassembly"
	"github.com/klippa-app/go-pdfium/webassembly/imports"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/emscripten"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// library is the compiled PDFium. Each document gets its own instance, so that
// it cannot affect the next one.
type library struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
	config  wazero.ModuleConfig
	memory  int64  // limit of the process
	file    []byte // of the open instance, which PDFium reads from here
}

// wasm is PDFium as WebAssembly. The package that embeds it starts instances only
// with memory on the heap of Go, which is copied whenever it grows.
//
//go:linkname wasm github.com/klippa-app/go-pdfium/webassembly.pdfiumWasm
var wasm []byte

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
	if len(wasm) == 0 {
		return nil, errors.New("this version of go-pdfium does not embed PDFium")
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(memory / wasmPage)).WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	ctx := context.Background()
	l := &library{runtime: wazero.NewRuntimeWithConfig(ctx, config), memory: memory}
	var err error
	if l.code, err = l.runtime.CompileModule(ctx, wasm); err == nil {
		err = l.link(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.runtime.Close(ctx))
	}
	l.config = wazero.NewModuleConfig().WithStartFunctions("_initialize").WithName("") // no files
	return l, nil
}

// link defines the functions that PDFium imports.
func (l *library) link(ctx context.Context) error {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, l.runtime); err != nil {
		return err
	}
	host := l.runtime.NewHostModuleBuilder("env")
	calls, err := emscripten.NewFunctionExporterForModule(l.code)
	if err != nil {
		return err
	}
	calls.ExportFunctions(host)
	imports.NewFunctionExporter().ExportFunctions(host)
	const i32 = api.ValueTypeI32
	host.NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(l.readFile), []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}).
		Export("FPDF_FILEACCESS_CB")
	_, err = host.Instantiate(ctx)
	return err
}

// readFile copies a part of the open file to PDFium's memory. Its arguments are a
// pointer that we do not use, the position, the address and the size.
func (l *library) readFile(_ context.Context, m api.Module, stack []uint64) {
	at := uint64(uint32(stack[1]))
	to := uint32(stack[2])
	size := uint64(uint32(stack[3]))
	stack[0] = 0
	if at+size <= uint64(len(l.file)) && m.Memory().Write(to, l.file[at:at+size]) {
		stack[0] = 1
	}
}

// instance is PDFium with one document. The first call that fails stores its
// error in err; all later calls do nothing and return 0.
type instance struct {
	module    api.Module
	memory    api.Memory
	space     *linearMemory // that memory accesses
	functions map[string]api.Function
	stack     [10]uint64 // arguments and result of a call
	scratch   uint32     // address of a buffer of scratchSize for results
	err       error
}

const scratchSize = 4 << 10

var errWASM = errors.New("PDFium failed")

// open returns an instance for a file, whose memory grows to at most limit bytes.
func (l *library) open(file []byte, limit int64) (*instance, error) {
	space, err := newLinearMemory(l.memory, limit)
	if err != nil {
		return nil, fmt.Errorf("reserve memory for PDFium: %w", err)
	}
	i := &instance{space: space, functions: map[string]api.Function{}}
	ctx := experimental.WithMemoryAllocator(context.Background(), space)
	if i.module, err = l.runtime.InstantiateModule(ctx, l.code, l.config); err != nil {
		space.Free()
		return nil, err
	}
	l.file = file
	i.memory = i.module.Memory()
	i.call("FPDF_InitLibrary")
	i.scratch = uint32(i.call("malloc", scratchSize))
	if i.err != nil || i.scratch == 0 {
		l.close(i)
		return nil, fmt.Errorf("%w at the start", errWASM)
	}
	return i, nil
}

// close frees the memory of an instance.
func (l *library) close(i *instance) {
	l.file = nil
	i.module.Close(context.Background())
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
