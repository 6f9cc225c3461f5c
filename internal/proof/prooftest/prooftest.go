// Package prooftest serves a transparency log from memory, which may also be wrong.
package prooftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
)

// Server serves a log from memory. Its fields may be changed while no request is
// served, and by Intrude.
type Server struct {
	t  testing.TB
	mu sync.Mutex // held while a request is served

	Origin  string
	Seed    byte // of the key that signs
	Leaves  [][]byte
	Entries [][]byte // what it answers; nil for the leaves
	Tree    *proof.Tree
	Intrude func(w http.ResponseWriter, r *http.Request) bool // answers instead, if it wants to
	Paths   []string                                          // that were requested
}

// Origin is the name of a new log.
const Origin = "example.org/log"

// New returns a server of a log with so many changes.
func New(t testing.TB, size int) *Server {
	s := &Server{
		t:      t,
		Origin: Origin,
		Seed:   1,
		Tree:   &proof.Tree{},
	}
	s.Grow(size, "")
	return s
}

// Change returns the leaf of a change.
func Change(seq int, mark string) []byte {
	return disclosure.Leaf{
		Seq:    int64(seq),
		Event:  "report.published",
		Time:   time.Date(2026, 3, 2, 9, 15, 0, 0, time.UTC).Add(time.Duration(seq) * time.Second),
		Record: fmt.Appendf(nil, `{"id":"ip-%d%s"}`, seq, mark),
	}.Append(nil)
}

// Grow adds changes up to a size. Those of different marks differ.
func (s *Server) Grow(size int, mark string) {
	for len(s.Leaves) < size {
		s.Add(Change(len(s.Leaves)+1, mark))
	}
}

// Add appends a leaf.
func (s *Server) Add(leaf []byte) {
	s.Leaves = append(s.Leaves, leaf)
	s.Tree.Append(tlog.RecordHash(leaf))
}

// Rewrite changes the leaves from seq on, and gives the log another size and a fresh
// tree.
func (s *Server) Rewrite(seq, size int, mark string) {
	kept := s.Leaves[:seq-1]
	s.Leaves, s.Tree = nil, &proof.Tree{}
	for _, leaf := range kept {
		s.Add(leaf)
	}
	s.Grow(size, mark)
}

// Keys returns the key that signs, and its public text.
func (s *Server) Keys() (note.Signer, string) {
	secret, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{s.Seed}, 64)), s.Origin)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		s.t.Fatal(err)
	}
	return signer, public
}

// Checkpoint returns the signed checkpoint.
func (s *Server) Checkpoint() []byte {
	size := s.Tree.Size()
	root, err := s.Tree.Root(size)
	if err != nil {
		s.t.Fatal(err)
	}
	signer, _ := s.Keys()
	text, err := proof.Checkpoint{Origin: s.Origin, Size: size, Root: root}.Sign(signer)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Paths = append(s.Paths, strings.TrimPrefix(r.URL.Path, "/log/"))
	if s.Intrude == nil || !s.Intrude(w, r) {
		s.Answer(w, r)
	}
}

// Answer answers as the log does, for Intrude.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimPrefix(r.URL.Path, "/log/"); {
	case path == "checkpoint":
		_, _ = w.Write(s.Checkpoint())
	case path == "vkey":
		_, public := s.Keys()
		fmt.Fprintln(w, public)
	case strings.HasPrefix(path, "/api/v1/changes/"):
		s.proof(w, path)
	default:
		s.tile(w, path)
	}
}

func (s *Server) tile(w http.ResponseWriter, path string) {
	tile, entries, err := proof.ParseTilePath(path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	data, err := s.Tree.Tile(tile)
	if errors.Is(err, proof.ErrSize) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if entries {
		data = nil
		all := s.Entries
		if all == nil {
			all = s.Leaves
		}
		for _, leaf := range all[tile.N*proof.TileWidth:][:tile.W] {
			data = proof.AppendEntry(data, leaf)
		}
	}
	_, _ = w.Write(data)
}

func (s *Server) proof(w http.ResponseWriter, path string) {
	var seq int64
	if _, err := fmt.Sscanf(path, "/api/v1/changes/%d/proof", &seq); err != nil {
		s.t.Error(err)
	}
	_ = json.NewEncoder(w).Encode(proof.Proof{Seq: seq, Leaf: s.Leaves[seq-1]})
}

// RoundTrip calls the server without a network, so that time can be simulated.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}
