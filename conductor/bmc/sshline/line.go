package sshline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Times of the command line.
const (
	promptTime  = 20 * time.Second       // for a prompt to show
	promptQuiet = 300 * time.Millisecond // after which a line that ends as a prompt is one
	leaveTime   = time.Second            // for the console to end after its escape
)

// Line is a serial line. Reads come from the machine, and writes go to it. One goroutine may read, and another write.
type Line struct {
	address string
	hostKey string
	client  *ssh.Client
	session *ssh.Session
	input   io.WriteCloser
	output  chan []byte // closed after err is set
	err     error
	stop    chan struct{}

	last   lastLine
	prompt string        // of the command line; "" when there is none, or it is too short
	said   []byte        // the beginning of the output, which may say why there is no console
	rest   []byte        // of output, for Read
	back   chan struct{} // closed when Read has seen the command line again, or the end
	seen   sync.Once     // closes back

	mu    sync.Mutex
	guard guard

	left sync.Once
	end  error
}

// HostKey is where the SSH server is, and its key as in known_hosts.
func (l *Line) HostKey() (address, key string) { return l.address, l.hostKey }

// open starts the console in a terminal of its own.
func (l *Line) open(ctx context.Context, e Entry, take bool) (err error) {
	if l.session, err = l.client.NewSession(); err != nil {
		return err
	}
	if l.input, err = l.session.StdinPipe(); err != nil {
		return err
	}
	output, err := l.session.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.session.RequestPty("vt100", 24, 80, ssh.TerminalModes{}); err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	if err := l.session.Shell(); err != nil {
		return fmt.Errorf("start the command line: %w", err)
	}
	l.output, l.stop, l.back = make(chan []byte), make(chan struct{}), make(chan struct{})
	go l.receive(output)
	if e.Command == "" {
		return nil
	}
	prompt, err := l.awaitPrompt(ctx)
	if err == nil && take && e.Free != "" {
		if err = l.command(e.Free); err == nil {
			prompt, err = l.awaitPrompt(ctx)
		}
	}
	if err != nil {
		return err
	}
	if len(prompt) >= minPrompt {
		l.prompt = prompt
	}
	return l.command(e.Command)
}

func (l *Line) command(text string) error {
	_, err := io.WriteString(l.input, text+"\r")
	return err
}

// receive passes output on until the session ends.
func (l *Line) receive(from io.Reader) {
	defer close(l.output)
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			select {
			case l.output <- bytes.Clone(buf[:n]):
			case <-l.stop:
				l.err = io.EOF
				return
			}
		}
		if err != nil {
			l.err = err
			return
		}
	}
}

// awaitPrompt reads until a line that asks for a command is followed by nothing.
func (l *Line) awaitPrompt(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	var said bytes.Buffer
	for {
		var quiet <-chan time.Time
		if isPrompt(l.last.String()) {
			timer := time.NewTimer(promptQuiet)
			defer timer.Stop()
			quiet = timer.C
		}
		select {
		case data, ok := <-l.output:
			if !ok {
				return "", fmt.Errorf("the BMC's command line ended before its prompt: %w", l.err)
			}
			l.last.add(data)
			if said.Len() < maxPrompt {
				said.Write(data)
			}
		case <-quiet:
			prompt := l.last.String()
			l.last = lastLine{}
			return prompt, nil
		case <-ctx.Done():
			return "", fmt.Errorf("the BMC's command line showed no prompt, expected one such as system>; it began with %.200q",
				said.String())
		}
	}
}

// Read returns the machine's output; io.EOF after Close. When the command line shows again, the error contains the
// BMC's words.
func (l *Line) Read(to []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.backAtPrompt() {
			l.seen.Do(func() { close(l.back) })
			return 0, l.refused()
		}
		data, ok := <-l.output
		if !ok {
			l.seen.Do(func() { close(l.back) })
			return 0, l.err
		}
		l.rest = data
		l.last.add(data)
		if room := 512 - len(l.said); l.prompt != "" && room > 0 {
			l.said = append(l.said, data[:min(room, len(data))]...)
		}
	}
	n := copy(to, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// backAtPrompt reports whether the console has given way to the command line.
func (l *Line) backAtPrompt() bool { return l.prompt != "" && l.last.String() == l.prompt }

// refused is the reason why the command line is back, as far as the BMC gives it.
func (l *Line) refused() error {
	if len(l.said) == 512 { // the console was there
		return errors.New("the BMC ended it")
	}
	words := strings.Join(strings.Fields(strings.ToValidUTF8(string(l.said), "?")), " ")
	return fmt.Errorf("the BMC's command line took the console back, and said %.300q", words)
}

// Write sends input, without the keys that lead to the BMC's command line.
func (l *Line) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, _ := l.guard.pass(data)
	if len(out) > 0 {
		if _, err := l.input.Write(out); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// Close leaves the console, so that the BMC gives it to the next session, and ends the connection.
func (l *Line) Close() error {
	l.left.Do(func() {
		if l.prompt != "" && l.guard.keys != "" {
			l.leave()
		}
		close(l.stop)
		l.end = closed(l.client)
	})
	return l.end
}

// leave types the escape and waits until the command line shows, which Read sees. If the BMC does not answer, or takes
// no input, the connection is closed.
func (l *Line) leave() {
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(l.input, l.guard.keys)
		written <- err
	}()
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	select {
	case err := <-written:
		if err != nil {
			return
		}
	case <-timer.C:
		return
	}
	select {
	case <-l.back:
	case <-timer.C:
	}
}
