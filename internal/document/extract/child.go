package extract

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// lookEvery is how often the child's memory is measured. In that time a child
// gone mad touches some ten megabytes more than it may.
const lookEvery = 25 * time.Millisecond

// settings are what the child is told first.
type settings struct {
	CacheDir  string   `json:"cache_dir"`
	Tesseract string   `json:"tesseract"`
	Limits    Limits   `json:"limits"`
	Greeting  greeting `json:"greeting,omitzero"` // what is known of it before it is started anew
}

// child is a process that runs Serve, as its parent sees it. Whoever has it may
// kill it at any moment; it is not used any more once it ended.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	limits Limits
	closed <-chan struct{} // of the reader
	frames chan frame      // what the child says
	id     uint32          // of the last document
	stderr *tail

	greeting greeting

	mu      sync.Mutex
	reaping bool // guarded by mu: its number may soon be another's

	killed sync.Once
	stop   chan struct{} // closed when it is to end
	gone   chan struct{} // closed when the process has ended and been waited for
	err    error         // why nothing more is read of it; to be read after gone
}

// startChild starts a process and waits until it can read documents.
func startChild(ctx context.Context, o Options, closed <-chan struct{}) (*child, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("no command is given")
	}
	hello, err := json.Marshal(settings{CacheDir: o.CacheDir, Tesseract: o.Tesseract, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	c := &child{
		cmd: exec.Command(o.Command[0], o.Command[1:]...), limits: o.Limits, closed: closed, stderr: &tail{},
		frames: make(chan frame), stop: make(chan struct{}), gone: make(chan struct{}),
	}
	c.cmd.Env = environment()
	c.cmd.Stderr = c.stderr
	c.cmd.WaitDelay = time.Second
	setProcessGroup(c.cmd)
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.listen(out)
	if err := c.hello(ctx, hello); err != nil {
		c.kill()
		if said := c.lastWords(); said != "" {
			err = fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, err
	}
	return c, nil
}

// environment is all that a child knows of ours: it must find tesseract, and
// has no use for our secrets.
func environment() []string {
	env := []string{"OMP_THREAD_LIMIT=1"} // tesseract's threads only get in each other's way
	for _, name := range []string{"PATH", "TMPDIR", "TESSDATA_PREFIX"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// listen passes on what the child says until it ends, or says what is no frame.
func (c *child) listen(out io.Reader) {
	take := fromChild(c.limits)
	for c.err == nil {
		var f frame
		if f, c.err = readFrame(out, take); c.err != nil {
			break
		}
		select {
		case c.frames <- f:
		case <-c.stop:
			c.err = io.EOF
		}
	}
	c.signal()
	c.mu.Lock()
	c.reaping = true
	c.mu.Unlock()
	c.in.Close()
	c.cmd.Wait() // its error says no more than ProcessState
	close(c.gone)
}

// kill ends the process with all that it started, and waits for that.
func (c *child) kill() {
	c.killed.Do(func() {
		close(c.stop)
		c.signal()
	})
	<-c.gone
}

func (c *child) signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaping {
		killGroup(c.cmd)
	}
}

func (c *child) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// lastWords are the end of what the process wrote on its standard error.
func (c *child) lastWords() string { return c.stderr.String() }

// hello tells the child its settings and waits until it is ready. Whatever goes
// wrong is no document's fault.
func (c *child) hello(ctx context.Context, body []byte) error {
	answer, err := c.ask(ctx, frame{kind: setup, body: body}, c.limits.StartTime, c.limits.StartMemory)
	switch _, ok := errors.AsType[excess](err); {
	case ok:
		return fmt.Errorf("getting ready %w", err)
	case errors.Is(err, errEnded):
		return fmt.Errorf("%w: %v", err, c.cmd.ProcessState)
	case err != nil:
		return err
	case answer.kind != ready:
		return fmt.Errorf("it is not ready: %s", tidy(string(answer.body)))
	}
	if len(answer.body) > 0 {
		if err := json.Unmarshal(answer.body, &c.greeting); err != nil {
			return fmt.Errorf("its greeting makes no sense: %w", err)
		}
	}
	c.greeting.Uncached = tidy(c.greeting.Uncached)
	return nil
}

// read has the child read a document. When the child cannot be used any more
// after that, it has ended.
func (c *child) read(ctx context.Context, body []byte) (*Text, error) {
	c.id++
	answer, err := c.ask(ctx, frame{kind: document, id: c.id, body: body}, c.limits.Time, c.limits.Memory)
	if err != nil {
		return nil, c.blame(err)
	}
	found, err := judge(answer, c.limits)
	if errors.Is(err, errMad) {
		c.kill()
		return nil, c.blame(err)
	}
	return found, err
}

// blame tells the document's fault from ours, after the process has ended.
func (c *child) blame(err error) error {
	if e, ok := errors.AsType[excess](err); ok {
		return e.unreadable()
	}
	switch {
	case errors.Is(err, errMad), errors.Is(err, errEnded) && errors.Is(c.err, errFrame):
		return &Unreadable{Reason: "it confuses the program that reads it"}
	case !errors.Is(err, errEnded):
		return err
	case wasKilled(c.cmd.ProcessState):
		// By the operator, or by a machine short of memory: we say so when it is us.
		return ErrKilled
	}
	return &Unreadable{Reason: "it crashes the program that reads it"}
}

var (
	errEnded = errors.New("the child ended")
	errMad   = errors.New("the child's answer makes no sense")
)

// ask sends a frame and waits for the answer. After an error the child has
// ended.
func (c *child) ask(ctx context.Context, question frame, limit time.Duration, memory int64) (frame, error) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		writeFrame(c.in, question) // when it fails there is no answer, or a mad one
	}()
	answer, err := c.answer(ctx, question.id, limit, memory)
	if err == nil {
		select {
		case <-sent:
		case <-time.After(time.Second):
			err = errMad // it answered before it had heard all
		}
	}
	if err != nil {
		c.kill()
	}
	<-sent
	return answer, err
}

// answer waits for the answer to a question, within limits of time and memory.
func (c *child) answer(ctx context.Context, id uint32, limit time.Duration, memory int64) (frame, error) {
	begun := time.Now()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	granted := 0 // pages that are read off pictures
	for {
		select {
		case f := <-c.frames:
			switch {
			case f.id != id:
				return f, errMad
			case f.kind != pictures:
				return f, nil
			case len(f.body) == 4:
				more := int(min(binary.BigEndian.Uint32(f.body), uint32(c.limits.OCRPages-granted)))
				granted += more
				limit += c.limits.OCRTime * time.Duration(more)
				deadline.Reset(time.Until(begun.Add(limit)))
			}
		case <-c.gone:
			return frame{}, errEnded
		case <-deadline.C:
			return frame{}, tookTooLong(limit)
		case <-look.C:
			if residentMemory(c.cmd.Process.Pid) > memory {
				return frame{}, neededTooMuch(memory)
			}
		case <-ctx.Done():
			return frame{}, ctx.Err()
		case <-c.closed:
			return frame{}, ErrClosed
		}
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte // guarded by mu
}

const mostLastWords = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-mostLastWords):]...)
	t.last = t.last[max(0, len(t.last)-mostLastWords):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
