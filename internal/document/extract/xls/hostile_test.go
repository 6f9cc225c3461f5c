package xls_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"pregon/internal/document/extract/xls"
	paper "pregon/internal/sim/paper/xls"
)

// register returns a small file with all that the writer can write.
func register(t testing.TB) []byte {
	rows := [][]any{nil, {"LEI", "ISIN"}}
	for n := range 200 {
		rows = append(rows, []any{strings.Repeat("Ż", n) + "x", 0.49, 2.547, float64(n), "Titular ficticio"})
	}
	return write(t, paper.Sheet{Name: "Última", Rows: rows}, paper.Sheet{Name: "Hoja2"})
}

// change returns a copy of a file with other bytes at a place.
func change(file []byte, at int, b ...byte) []byte {
	file = bytes.Clone(file)
	copy(file[at:], b)
	return file
}

func TestRefused(t *testing.T) {
	good := register(t)
	directory := 512 + int(binary.LittleEndian.Uint32(good[48:]))*512
	table := 512 + int(binary.LittleEndian.Uint32(good[76:]))*512
	sst := bytes.Index(good, []byte{0xfc, 0x00, 0x20, 0x20}) // the last byte is of the count of references
	if sst < 0 {
		sst = bytes.Index(good, []byte{0xfc, 0x00})
	}
	for _, test := range []struct {
		name   string
		file   []byte
		reason string
	}{
		{"nothing", nil, "it is empty"},
		{"a page", []byte("\ufeff\r\n <!DOCTYPE html><html><table></table>"), "it is a web page"},
		{"a newer workbook", []byte("PK\x03\x04" + strings.Repeat("x", 600)), "Excel 2007"},
		{"a text", []byte(strings.Repeat("LEI;ISIN\n", 100)), "it is not a workbook"},
		{"only the signature", good[:8], "cut off"},
		{"only the header", good[:512], "cut off"},
		{"half", good[:len(good)/2], "cut off"},
		{"the last sector is missing", good[:len(good)-512], "cut off"},
		{"too large", make([]byte, xls.MaxBytes+1), "larger than 16 MB"},
		{"a wrong size of sectors", change(good, 30, 40), "cut off"},
		{"the list of tables is a loop", change(good, 68, 0, 0, 0, 0), "cut off"},
		{"the stream is a loop", change(good, table, 0, 0, 0, 0), "cut off"},
		{"the stream leaves the file", change(good, table, 0xff, 0xff, 0, 0), "cut off"},
		{"the directory leaves the file", change(good, 48, 0xff, 0xff, 0, 0), "cut off"},
		{"the stream is longer than the file", change(good, directory+128+120, 0xff, 0xff, 0xff, 0x7f), "cut off"},
		{"the stream is longer than its chain", change(good, directory+128+120, binary.LittleEndian.AppendUint32(nil, uint32(directory-512+1))...), "cut off"},
		{"another kind of file", change(good, directory+128, 'X'), "another kind of file"},
		{"Excel 95", change(good, directory+128, []byte("B\x00o\x00o\x00k\x00\x00\x00")...), "another kind of file"},
		{"an older version", change(good, 512+4, 0x00, 0x05), "Excel 95"},
		{"no beginning", change(good, 512, 0, 0), "cut off"},
		{"encrypted", change(good, 512+20, 0x2f, 0x00), "password"},
		{"no sheets", insertGlobals(good), "no sheets"},
		{"a record beyond the end", change(good, 512+22, 0xff, 0xff), "cut off"},
		{"a text that is missing", insert(t, record(0x00fd, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0)), "cut off"},
		{"a column that is missing", insert(t, record(0x0203, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "cut off"},
		{"too short a record", insert(t, record(0x0203, 0, 0, 0, 0)), "cut off"},
		{"no number", insert(t, record(0x0203, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0xf0, 0x7f)), "cut off"},
		{"columns without end", insert(t, record(0x00bd, append([]byte{0, 0, 250, 0}, make([]byte, 6*20+2)...)...)), "cut off"},
		{"half a character", insert(t, record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 1, 'x')), "cut off"},
		{"a text without its end", insert(t, record(0x0204, 0, 0, 0, 0, 0, 0, 9, 0, 0, 'x')), "cut off"},
		{"a formula without its text", insert(t, record(0x0006, append(make([]byte, 12), 0xff, 0xff)...)), "cut off"},
		{"strings that are cut", change(good, sst+8, 0xff, 0xff, 0xff, 0x7f), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, err := xls.Read(test.file)
			if test.reason == "" {
				if err != nil {
					t.Errorf("got %v, want a book: a wrong count does no harm", err)
				}
				return
			}
			if !xls.IsInvalid(err) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got %d sheets, %v, want an error with %q", len(book.Sheets), err, test.reason)
			}
		})
	}
}

// insertGlobals returns a file whose first part ends at once.
func insertGlobals(file []byte) []byte { return change(file, 512+20, 0x0a, 0x00) }

// TestMany reads many sheets at the same place, so that a small file would have more
// cells than the limit.
func TestMany(t *testing.T) {
	row := make([]any, 255)
	for n := range row {
		row[n] = float64(n)
	}
	rows := make([][]any, 200)
	for n := range rows {
		rows[n] = row
	}
	sheets := []paper.Sheet{{Name: "A", Rows: rows}}
	for range xls.MaxSheets - 1 {
		sheets = append(sheets, paper.Sheet{Name: "B"})
	}
	file := write(t, sheets...)
	if _, err := xls.Read(file); err != nil {
		t.Fatal(err)
	}
	sheet := []byte{0x85, 0x00, 0x09, 0x00}
	first := bytes.Index(file, sheet)
	for at := first; ; {
		copy(file[at+4:], file[first+4:first+8])
		n := bytes.Index(file[at+1:], sheet)
		if n < 0 {
			break
		}
		at += 1 + n
	}
	if _, err := xls.Read(file); err == nil || !strings.Contains(err.Error(), "cells") {
		t.Errorf("got %v, want an error about the number of cells", err)
	}
	if _, err := xls.Read(write(t, append(sheets, paper.Sheet{Name: "C"})...)); err == nil || !strings.Contains(err.Error(), "sheets") {
		t.Errorf("got %v, want an error about the number of sheets", err)
	}
}

// TestDamaged changes bytes of a file at random. It must not panic, and what it reads
// must survive its encoding.
func TestDamaged(t *testing.T) {
	good := register(t)
	rng := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 3000 {
		file := bytes.Clone(good[:len(good)-rng.IntN(2)*rng.IntN(len(good))])
		for range 1 + rng.IntN(8) {
			file[rng.IntN(len(file))] = byte(rng.IntN(256))
		}
		book, err := xls.Read(file)
		if err != nil {
			continue
		}
		read++
		if _, err := xls.Decode(book.Encode()); err != nil {
			t.Fatalf("%v, of a book that was read", err)
		}
	}
	if read == 0 || read == 3000 {
		t.Errorf("%d of 3000 damaged files were read", read)
	}
}

func TestDecodeRefuses(t *testing.T) {
	book, err := xls.Read(register(t))
	if err != nil {
		t.Fatal(err)
	}
	good := book.Encode()
	for _, bad := range [][]byte{
		nil,
		{2},
		append(bytes.Clone(good), 0),
		good[:len(good)-1],
		change(good, 0, 9),
		{1, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, // texts
		{1, 1, 1, 0xff, 0, 0},                // no UTF-8
		{1, 1, 1, 'a', 0, 1, 1, 0},           // a name that is missing
		{1, 1, 1, 'a', 0, 1, 0, 1, 0, 1, 0, 1, 0},                            // row 0
		{1, 1, 1, 'a', 0, 1, 0, 1, 1, 0},                                     // an empty row
		{1, 1, 1, 'a', 0, 1, 0, 1, 1, 1, 0, 0},                               // a cell without a value
		{1, 1, 1, 'a', 0, 1, 0, 1, 1, 1, 0, 9, 0},                            // an unknown kind
		{1, 1, 1, 'a', 0, 1, 0, 1, 1, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, // no number
		{1, 1, 1, 'a', 0, 1, 0, 1, 1, 2, 1, 1, 0, 1, 1, 0},                   // a column twice
		{1, 1, 1, 'a', 0, 1, 0, 2, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0},             // a row twice
	} {
		if _, err := xls.Decode(bad); err == nil {
			t.Errorf("%x is accepted", bad[:min(len(bad), 40)])
		}
	}
}

func FuzzRead(f *testing.F) {
	good := register(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(change(good, 68, 0, 0, 0, 0))
	f.Add(insert(f, record(0x0204, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'x')))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, file []byte) {
		book, err := xls.Read(file)
		if err != nil {
			if !xls.IsInvalid(err) {
				t.Fatalf("%v is not an *Error", err)
			}
			return
		}
		if _, err := xls.Decode(book.Encode()); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	book, err := xls.Read(register(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(book.Encode())
	f.Add([]byte{1, 1, 1, 'a', 0, 1, 0, 1, 1, 1, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		book, err := xls.Decode(b)
		if err != nil {
			return
		}
		if again, err := xls.Decode(book.Encode()); err != nil || len(again.Sheets) != len(book.Sheets) {
			t.Fatal(err)
		}
	})
}
