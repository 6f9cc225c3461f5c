package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"pregon/internal/document/extract"
)

// memoryInterval is how often the child's memory is measured. In that time a
// runaway child can exceed its limit by some ten megabytes.
const memoryInterval = 25 * time.Millisecond

// child is a process that runs Serve, as its parent sees it. kill may be called
// at any moment. A child that has ended is not used again.
type child struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	limits   extract.Limits
	accept   sizes           // the frames that it may send
	closed   <-chan struct{} // of the reader
	frames   chan frame      // received from the child
	id       uint32          // of the last document
	step     int             // that the child began last, as it says; 0 before the first
	stderr   *tail
	greeting greeting

	mu      sync.Mutex
	reaping bool // guarded by mu: the process is being waited for, so its pid may be reused

	killed sync.Once
	stop   chan struct{} // closed by kill
	gone   chan struct{} // closed when the process has ended and been waited for
	err    error         // why receive ended; read it after gone
}

// startChild starts a process and waits until it is ready.
func startChild(ctx context.Context, o Options, closed <-chan struct{}) (*child, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("no command is given")
	}
	settings, err := json.Marshal(Settings{
		CacheDir:  o.CacheDir,
		Tesseract: o.Tesseract,
		Limits:    o.Limits,
		Workbooks: o.workbooks,
	})
	if err != nil {
		return nil, err
	}
	c := &child{
		cmd:    exec.Command(o.Command[0], o.Command[1:]...),
		limits: o.Limits,
		accept: fromChild(o.Limits),
		closed: closed,
		stderr: &tail{},
		frames: make(chan frame),
		stop:   make(chan struct{}),
		gone:   make(chan struct{}),
	}
	if o.workbooks {
		c.accept = fromBookChild
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
	go c.receive(out)
	if err := c.setup(ctx, settings); err != nil {
		c.kill()
		if output := c.stderr.String(); output != "" {
			err = fmt.Errorf("%w; it said: %s", err, output)
		}
		return nil, err
	}
	return c, nil
}

// environment returns the variables that the child needs to find tesseract. It
// gets no others, because they may hold secrets.
func environment() []string {
	env := []string{"OMP_THREAD_LIMIT=1"} // more threads make tesseract slower
	for _, name := range []string{"PATH", "TMPDIR", "TESSDATA_PREFIX"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// receive passes frames from the child to c.frames until the child ends or sends
// an invalid frame. Then it kills the child and waits for it.
func (c *child) receive(out io.Reader) {
	for c.err == nil {
		var f frame
		if f, c.err = readFrame(out, c.accept); c.err != nil {
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
	c.cmd.Wait() // its error is in ProcessState
	close(c.gone)
}

// kill ends the process and all that it started, and waits until they have ended.
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

// setup sends the settings and waits until the child is ready. No document is
// involved, so its errors are never an Unreadable.
func (c *child) setup(ctx context.Context, settings []byte) error {
	answer, err := c.ask(ctx, []frame{{kind: setup, body: settings}}, c.limits.StartTime, c.limits.StartMemory)
	switch _, exceeded := errors.AsType[limitError](err); {
	case exceeded:
		return fmt.Errorf("getting ready %w", err)
	case errors.Is(err, errEnded):
		return fmt.Errorf("%w: %v", err, c.cmd.ProcessState)
	case err != nil:
		return err
	case answer.kind != ready:
		return fmt.Errorf("it is not ready: %s", extract.Tidy(string(answer.body)))
	}
	if len(answer.body) > 0 {
		if err := json.Unmarshal(answer.body, &c.greeting); err != nil {
			return fmt.Errorf("decode its greeting: %w", err)
		}
	}
	c.greeting.Uncached = extract.Tidy(c.greeting.Uncached)
	return nil
}

// read has the child read a document, without some of its steps. If the child
// cannot be used afterwards, it has ended, and c.step is the step that failed.
func (c *child) read(ctx context.Context, body []byte, left []skip) (*extract.Text, error) {
	c.id++
	c.step = 0
	questions := []frame{{kind: document, id: c.id, body: body}}
	if len(left) > 0 {
		list, err := json.Marshal(left)
		if err != nil {
			return nil, err
		}
		questions = append([]frame{{kind: skips, id: c.id, body: list}}, questions...)
	}
	answer, err := c.ask(ctx, questions, c.limits.Time, c.limits.Memory)
	if err != nil {
		return nil, c.classify(err)
	}
	found, err := decodeAnswer(answer, c.limits)
	if errors.Is(err, errInvalidAnswer) {
		c.kill()
		return nil, c.classify(err)
	}
	return found, err
}

// limitError is the error of a child that exceeded a limit, such as "took more
// than 60 s".
type limitError string

func (e limitError) Error() string { return string(e) }

var (
	errEnded    = errors.New("the child ended")
	errConfused = &extract.Unreadable{Reason: "the program that reads it gives an invalid answer"}
)

// classify returns an Unreadable if the document caused an error of ask, after
// which the process has ended.
func (c *child) classify(err error) error {
	if e, ok := errors.AsType[limitError](err); ok {
		return &extract.Unreadable{Reason: "reading it " + string(e)}
	}
	switch {
	case errors.Is(err, errInvalidAnswer), errors.Is(err, errEnded) && errors.Is(c.err, errFrame):
		return errConfused
	case !errors.Is(err, errEnded):
		return err
	case wasKilled(c.cmd.ProcessState):
		return extract.ErrKilled // not by us, whose kills have other errors
	}
	return extract.ErrCrash
}

// ask sends frames and waits for the answer. After an error the child has ended.
func (c *child) ask(ctx context.Context, questions []frame, timeout time.Duration, memory int64) (frame, error) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, q := range questions {
			writeFrame(c.in, q) // if it fails, there is no valid answer
		}
	}()
	answer, err := c.answer(ctx, questions[0].id, timeout, memory)
	if err == nil {
		select {
		case <-sent:
		case <-time.After(time.Second):
			err = errInvalidAnswer // it answered before it had received the document
		}
	}
	if err != nil {
		c.kill()
	}
	<-sent
	return answer, err
}

// answer waits for the answer to a question, and enforces the limits of time and
// memory.
func (c *child) answer(ctx context.Context, id uint32, timeout time.Duration, memory int64) (frame, error) {
	clock := newClock(c.limits, timeout)
	defer clock.Stop()
	measure := time.NewTicker(memoryInterval)
	defer measure.Stop()
	for {
		select {
		case f := <-c.frames:
			switch {
			case f.id != id:
				return f, errInvalidAnswer
			case f.kind == ocrPages:
				clock.grant(f.number())
			case f.kind == step:
				c.step = f.number()
				clock.step()
			default:
				return f, nil
			}
		case <-c.gone:
			return frame{}, errEnded
		case <-clock.C:
			return frame{}, limitError(fmt.Sprintf("took more than %v s", clock.allowed.Seconds()))
		case <-measure.C:
			if residentMemory(c.cmd.Process.Pid) > memory {
				return frame{}, limitError(fmt.Sprintf("needed more than %d MB", memory>>20))
			}
		case <-ctx.Done():
			return frame{}, ctx.Err()
		case <-c.closed:
			return frame{}, ErrClosed
		}
	}
}

// tail is a writer that keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	last []byte // guarded by mu
}

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-tailSize):]...)
	t.last = t.last[max(0, len(t.last)-tailSize):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
