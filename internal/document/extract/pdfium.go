package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// library is PDFium, compiled once. Each document gets an instance of its own,
// so that nothing of one is left when the next is opened.
type library struct {
	pool pdfium.Pool
	most uint32 // bytes of an instance's memory
}

const wasmPage = 64 << 10

// newLibrary takes PDFium's compiled code from a directory, or compiles it. When
// the directory is of no use it compiles without one, and uncached says why:
// better a slow start than no documents.
func newLibrary(cacheDir string, memory int64) (l *library, uncached, err error) {
	config, most := runtimeConfig(memory)
	if cacheDir != "" {
		if l, uncached = compileCached(config, most, cacheDir); uncached == nil {
			return l, nil, nil
		}
	}
	l, err = compile(config, most)
	return l, uncached, err
}

// runtimeConfig returns the settings for a process of so much memory, and how
// many pages of it an instance may have.
func runtimeConfig(memory int64) (wazero.RuntimeConfig, uint32) {
	// The rest is for the compiled code, the document itself and its text.
	most := uint32(memory * 55 / 100 / wasmPage)
	return wazero.NewRuntimeConfig().WithMemoryLimitPages(most).WithDebugInfoEnabled(false), most
}

// prepare sees to it that a directory has PDFium's compiled code. One process
// compiles, while others wait for it: several at once on a busy machine could
// all take so long that none ends in time.
func prepare(dir string, memory int64) error {
	if dir == "" {
		return nil
	}
	if err := private(dir); err != nil {
		return err
	}
	if whole(dir) {
		return nil
	}
	// Where the lock cannot be had, such as on a file system that is only read,
	// processes do without.
	if held, err := lock(filepath.Join(dir, "lock")); err == nil {
		defer held.Close()
	}
	if whole(dir) {
		return nil
	}
	config, most := runtimeConfig(memory)
	_, err := compileAnew(config, most, dir)
	if err == nil {
		_ = seal(dir) // without a seal the next start looks again, no more
	}
	return err
}

// compileAnew takes code of which nothing is known from a directory, or
// compiles it.
func compileAnew(config wazero.RuntimeConfig, most uint32, dir string) (*library, error) {
	l, err := compileCached(config, most, dir)
	if err == nil {
		return l, nil
	}
	// What is there may be damaged, and is ours to repair.
	old := compiled(dir)
	for _, dir := range old {
		if os.RemoveAll(dir) != nil {
			return nil, err
		}
	}
	if len(old) == 0 {
		return nil, err
	}
	return compileCached(config, most, dir)
}

// compiled are the directories of compiled code within ours.
func compiled(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "wazero-*"))
	return list
}

// private makes a directory for code that is going to be run, in which nobody
// else may write, nor could have put the code that is there.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := ours(dir); err != nil {
		return err
	}
	for _, within := range compiled(dir) {
		err := filepath.WalkDir(within, func(path string, _ fs.DirEntry, err error) error {
			return cmp.Or(err, ours(path))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ours reports whether nobody else may write to a file or directory.
func ours(path string) error {
	info, err := os.Stat(path)
	if err == nil && (info.Mode().Perm()&0o022 != 0 || ofOthers(info)) {
		err = fmt.Errorf("others may write to %s", path)
	}
	return err
}

func compileCached(config wazero.RuntimeConfig, most uint32, dir string) (*library, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	return compile(config.WithCompilationCache(cache), most)
}

func compile(config wazero.RuntimeConfig, most uint32) (*library, error) {
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config,
		FSConfig: wazero.NewFSConfig(), // no files
		Stdout:   io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, err
	}
	return &library{pool: pool, most: most * wasmPage}, nil
}

// instance is PDFium with one document. The first call that goes wrong leaves
// its error in err, and all later ones do nothing and return 0.
type instance struct {
	whole   pdfium.Pdfium
	module  api.Module
	memory  api.Memory
	most    uint32
	calls   map[string]api.Function
	scratch uint32 // address of a little room for results
	err     error
}

const (
	scratchSize = 4 << 10
	spareRoom   = 2 << 20  // that a new instance has for a document
	workRoom    = 48 << 20 // for the work on a large one, or on a picture
)

var errWASM = errors.New("PDFium failed")

// open makes an instance with room for a document of so many bytes.
func (l *library) open(size int) (*instance, error) {
	whole, err := l.pool.GetInstance(10 * time.Second)
	if err != nil {
		return nil, err
	}
	p := &instance{whole: whole, most: l.most, calls: map[string]api.Function{}}
	if p.module, err = moduleOf(whole); err != nil {
		whole.Close()
		return nil, err
	}
	p.memory = p.module.Memory()
	if size > spareRoom {
		p.makeRoom(size + workRoom)
	}
	p.scratch = uint32(p.call("malloc", scratchSize))
	if p.err != nil || p.scratch == 0 {
		whole.Close()
		return nil, fmt.Errorf("%w at the start", errWASM)
	}
	return p, nil
}

// moduleOf is the module behind an instance. The calls of the package pdfium
// cost some ten calls of the module each, and there are several for each
// character of a document.
func moduleOf(whole pdfium.Pdfium) (api.Module, error) {
	v := reflect.ValueOf(whole.GetImplementation())
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
	return nil, errors.New("this version of go-pdfium does not show its module")
}

func (p *instance) close() { p.whole.Close() }

// makeRoom gives the instance more memory. It is copied each time that it grows,
// and is there twice for a while, so that for work that is going to need much it
// had better grow but once.
func (p *instance) makeRoom(bytes int) {
	left := (p.most - p.memory.Size()) / wasmPage
	p.memory.Grow(min(uint32(bytes/wasmPage), left))
}

// outOfMemory reports whether the instance failed for want of memory: it ends
// itself when it is given no more.
func (p *instance) outOfMemory() bool {
	return p.err != nil && p.memory.Size() > p.most-p.most/4
}

// function finds a function of PDFium, for many calls of it.
func (p *instance) function(name string) api.Function {
	f, ok := p.calls[name]
	if !ok {
		f = p.module.ExportedFunction(name)
		p.calls[name] = f
	}
	return f
}

// call calls a function of PDFium and returns its result, if it has one.
func (p *instance) call(name string, args ...uint64) uint64 {
	var stack [10]uint64
	copy(stack[:], args)
	return p.callFast(p.function(name), stack[:])
}

// callFast calls a function with the arguments on a stack that is long enough,
// where the result is left too.
func (p *instance) callFast(f api.Function, stack []uint64) uint64 {
	if p.err != nil {
		return 0
	}
	if f == nil {
		p.err = fmt.Errorf("%w: it lacks a function", errWASM)
		return 0
	}
	if err := f.CallWithStack(context.Background(), stack); err != nil {
		p.err = fmt.Errorf("%w: %w", errWASM, err)
		return 0
	}
	return stack[0]
}

// callInt calls a function whose result is an int of C.
func (p *instance) callInt(name string, args ...uint64) int {
	return int(int32(uint32(p.call(name, args...))))
}

// callFloat calls a function whose result is a float of C.
func (p *instance) callFloat(name string, args ...uint64) float64 {
	return float64(api.DecodeF32(p.call(name, args...)))
}

// float32At, float64At read numbers that a function left at an address.
func (p *instance) float32At(address uint32) float64 {
	v, _ := p.memory.ReadFloat32Le(address)
	return finite(float64(v))
}

func (p *instance) float64At(address uint32) float64 {
	v, _ := p.memory.ReadFloat64Le(address)
	return finite(v)
}

// finite keeps coordinates within what a page can have.
func finite(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-1e6, min(1e6, v))
}
