package saved_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pregon/internal/search/saved"
	"pregon/internal/store/durable"
)

// content is what the tests save: bytes of several blocks, and numbers.
func content() (text []byte, numbers []uint64) {
	rng := rand.New(rand.NewPCG(1, 2))
	text = make([]byte, 300_001)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	numbers = make([]uint64, 20_000)
	for i := range numbers {
		numbers[i] = rng.Uint64()
	}
	return text, numbers
}

func write(t *testing.T, path, state string) {
	t.Helper()
	text, numbers := content()
	err := saved.Write(path, durable.Replace, func(d *saved.DataWriter) ([]byte, error) {
		d.Add(text)
		d.AddUint64s(numbers)
		return []byte(state), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// read reads everything, and returns what Broken says of the panic that ends it, if any.
func read(path string) (state string, broken bool, err error) {
	b, data, err := saved.Open(path)
	if err != nil {
		return "", false, err
	}
	return string(b), isBroken(func() { compare(data) }), nil
}

func compare(data *saved.Data) {
	text, numbers := content()
	if !bytes.Equal(data.Bytes(0, len(text)), text) {
		panic("other bytes are served")
	}
	if !slices.Equal(data.Uint64s(300_008, len(numbers)), numbers) {
		panic("other numbers are served")
	}
}

func isBroken(fn func()) (broken bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if saved.Broken(p) == nil {
				panic(p)
			}
			broken = true
		}
	}()
	fn()
	return false
}

func dataFile(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+"-data-") {
			found = append(found, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	if len(found) != 1 {
		t.Fatalf("the data files are %v", found)
	}
	return found[0]
}

// What was written is read, again and again, and old data files are removed.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cat[1]*logue")
	if _, _, err := saved.Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening nothing: %v", err)
	}
	for _, state := range []string{"", "one", string(make([]byte, 200_000))} {
		write(t, path, state)
		if got, broken, err := read(path); err != nil || broken || got != state {
			t.Errorf("got %d bytes, %v, %v", len(got), broken, err)
		}
		dataFile(t, path)
	}
}

// A write that fails, or is ended half way, leaves the last good files.
func TestWriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalogue")
	write(t, path, "good")
	full := errors.New("the disk is full")
	for _, last := range []string{"data", "state"} {
		calls := 0
		replace := func(path string, perm fs.FileMode, fn func(io.Writer) error) error {
			if calls++; last == "data" || calls == 2 {
				return errors.Join(full, fn(io.Discard))
			}
			return durable.Replace(path, perm, fn)
		}
		err := saved.Write(path, replace, func(d *saved.DataWriter) ([]byte, error) {
			d.Add([]byte("other"))
			return []byte("other"), nil
		})
		if !errors.Is(err, full) {
			t.Errorf("%s: got %v", last, err)
		}
		if got, broken, err := read(path); got != "good" || broken || err != nil {
			t.Errorf("%s: got %q, %v, %v", last, got, broken, err)
		}
		dataFile(t, path)
	}
	for _, left := range []string{"." + filepath.Base(path) + "-data-1.2.partial", filepath.Base(path) + "-data-0123"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), left), []byte("of a killed process"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, "next")
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 { // the state, the data, the lock
		t.Errorf("the files are %v, %v", entries, err)
	}
}

// Two processes do not write at once: the second one gets ErrBusy.
func TestWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalogue")
	err := saved.Write(path, durable.Replace, func(d *saved.DataWriter) ([]byte, error) {
		err := saved.Write(path, durable.Replace, func(*saved.DataWriter) ([]byte, error) { return nil, nil })
		if !errors.Is(err, saved.ErrBusy) {
			t.Errorf("the second write: %v", err)
		}
		return []byte("first"), nil
	})
	if got, _, opened := saved.Open(path); err != nil || opened != nil || string(got) != "first" {
		t.Errorf("got %q, %v, %v", got, err, opened)
	}
}

// A state file of which any byte differs, or that is cut short anywhere, is refused.
func TestDamagedState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalogue")
	write(t, path, "the state")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if state, _, err := saved.Open(path); err == nil {
			t.Fatalf("%s %d: got %q", what, at, state)
		}
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 1 << (at % 8)
		check("byte", at, bad)
		check("length", at, good[:at])
	}
	check("length", len(good)+1, append(slices.Clone(good), 0))
}

// A damaged block is noticed when it is used, and a file that is cut short does not end the
// process.
func TestDamagedData(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalogue")
	write(t, path, "")
	file := dataFile(t, path)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(good); at += 9973 {
		bad := slices.Clone(good)
		bad[at] ^= 0x10
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, broken, err := read(path)
		if padding := at > 300_000 && at < 300_008; err != nil || !broken && !padding {
			t.Errorf("byte %d: broken %v, %v", at, broken, err)
		}
	}
	for _, size := range []int64{0, 1, 4096, int64(len(good)) - 1, int64(len(good)) + 1} {
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
		_, data, err := saved.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if size != 1 { // once before any block was used, else after all were
			compare(data)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		if !data.Changed() || !isBroken(data.Verify) {
			t.Errorf("cut to %d bytes: not noticed", size)
		}
		if size > 4096 { // the last page is still there, with zeros at its end
			continue
		}
		if !isBroken(func() { compare(data) }) {
			t.Errorf("cut to %d bytes: something is served", size)
		}
		if _, _, err := saved.Open(path); err == nil {
			t.Errorf("a file of %d bytes is opened", size)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := saved.Open(path); err == nil {
		t.Error("a file that is missing is opened")
	}
}

// Only panics that a file causes are those of a broken file.
func TestBroken(t *testing.T) {
	for _, p := range []any{nil, "text", errors.New("error")} {
		if saved.Broken(p) != nil {
			t.Errorf("%v is that of a file", p)
		}
	}
	defer func() {
		if p := recover(); p == nil || saved.Broken(p) != nil {
			t.Errorf("an index out of range: %v", p)
		}
	}()
	_ = make([]byte, 1)[len(t.Name())]
}

func FuzzDecoder(f *testing.F) {
	var e saved.Encoder
	e.Strings([]string{"one", "", "three"})
	e.Uint32s([]uint32{1, 2})
	e.Uint64s([]uint64{3})
	e.Int(-5)
	e.Bool(true)
	f.Add(e.B)
	f.Fuzz(func(t *testing.T, b []byte) {
		d := saved.NewDecoder(b)
		texts := d.Strings()
		d.Uint32s()
		d.Uint64s()
		d.Int()
		d.Uint32()
		if d.Err() != nil && d.Uint() != 0 {
			t.Error("a decoder goes on after an error")
		}
		if len(texts) > len(b) {
			t.Errorf("%d texts of %d bytes", len(texts), len(b))
		}
	})
}
