package extract

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"pregon/internal/document/confine"
)

// Serve is the child: it reads documents from in and writes what they say to
// out, until in ends. It is the whole work of its process, whose limits it sets,
// and whose program it may start anew in order to confine it.
func Serve(in io.Reader, out io.Writer) error {
	s, again, err := handedOn()
	switch {
	case err != nil:
		return err
	case again:
		return serveWith(in, out, s, newEngine)
	}
	return serve(in, out, func(s settings) (engine, greeting, error) { return newEngine(confined(s)) })
}

// greeting is what the child says of itself when it is ready.
type greeting struct {
	Uncached string         `json:"uncached,omitempty"` // why it has no cache
	Confined confine.Status `json:"confined,omitempty"`
}

// engine reads documents.
type engine interface {
	// read may call tell once, with the number of pages that it is going to
	// read off pictures.
	read(body []byte, tell func(pages int)) (*Text, error)
	// rest gives back the memory that the last document took.
	rest()
}

func serve(in io.Reader, out io.Writer, begin func(settings) (engine, greeting, error)) error {
	first, err := readFrame(in, toChild)
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case first.kind != setup:
		return fmt.Errorf("%w: a document before the settings", errFrame)
	}
	var s settings
	if err := json.Unmarshal(first.body, &s); err != nil {
		return fmt.Errorf("the settings: %w", err)
	}
	return serveWith(in, out, s, begin)
}

// serveWith is serve after the settings are known.
func serveWith(in io.Reader, out io.Writer, s settings, begin func(settings) (engine, greeting, error)) error {
	s.Limits = s.Limits.withDefaults()
	e, g, err := begin(s)
	if err != nil {
		return errors.Join(err, writeFrame(out, frame{kind: trouble, body: short(err.Error())}))
	}
	g.Uncached = string(short(g.Uncached))
	for l, why := range g.Confined {
		g.Confined[l] = why[:min(len(why), 256)]
	}
	body, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := writeFrame(out, frame{kind: ready, body: body}); err != nil {
		return err
	}
	for {
		f, err := readFrame(in, toChild)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case f.kind != document:
			return fmt.Errorf("%w: settings for a second time", errFrame)
		}
		if err := serveOne(out, e, f, s.Limits); err != nil {
			return err
		}
	}
}

// serveOne reads one document and answers.
func serveOne(out io.Writer, e engine, f frame, l Limits) error {
	tell := func(pages int) {
		body := binary.BigEndian.AppendUint32(nil, uint32(pages))
		writeFrame(out, frame{kind: pictures, id: f.id, body: body}) // if it fails, so does the answer
	}
	t, err := guard(e, f.body, tell)
	answer := answerOf(t, err, l)
	answer.id = f.id
	f.body, t = nil, nil
	e.rest() // before the answer, so that the next document begins with little memory in use
	return writeFrame(out, answer)
}

func answerOf(t *Text, err error, l Limits) frame {
	if err == nil {
		var body bytes.Buffer
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false) // makes a text longer
		if enc.Encode(t) == nil && body.Len() <= l.answerSize() {
			return frame{kind: text, body: body.Bytes()}
		}
		err = &Unreadable{Reason: "its text is too long"}
	}
	u, ok := errors.AsType[*Unreadable](err)
	switch {
	case ok:
		return frame{kind: unreadable, body: short(u.Reason)}
	case errors.Is(err, ErrSitePage):
		return frame{kind: sitePage}
	}
	return frame{kind: trouble, body: short(err.Error())}
}

// guard makes a panic the document's fault: it would happen again.
func guard(e engine, body []byte, tell func(int)) (t *Text, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			t, err = nil, &Unreadable{Reason: "it crashes the program that reads it"}
		}
	}()
	return e.read(body, tell)
}

// short cuts a message to what a frame takes.
func short(s string) []byte { return []byte(s[:min(len(s), 1<<10)]) }
