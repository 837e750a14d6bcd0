package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// opener connects with a console.
type opener func(ctx context.Context) (*websocket.Conn, error)

// Times of a conductor that is lost.
const (
	reopenFirst = 500 * time.Millisecond // the first pause between two tries, doubled with each
	reopenPause = 5 * time.Second        // the longest
	reopenFor   = 10 * time.Minute       // until it is given up
)

// reopen connects until it works, or the conductor refuses.
func reopen(ctx context.Context, open opener) (*websocket.Conn, error) {
	began, pause := time.Now(), reopenFirst
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
		socket, err := open(ctx)
		var fault *nodeapi.Fault
		refused := errors.As(err, &fault) && fault.Status < http.StatusInternalServerError
		if err == nil || refused || ctx.Err() != nil || time.Since(began) > reopenFor {
			return socket, err
		}
		pause = min(2*pause, reopenPause)
	}
}

// consoleTerminal sends the keyboard's input to the open console.
type consoleTerminal struct {
	mu     sync.Mutex
	socket *websocket.Conn // nil while there is none
}

func (t *consoleTerminal) join(socket *websocket.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.socket = socket
}

// send drops input while no console is open, and input that cannot be sent. The reader of the output reports the error.
func (t *consoleTerminal) send(ctx context.Context, data []byte) {
	t.mu.Lock()
	socket := t.socket
	t.mu.Unlock()
	if socket != nil && len(data) > 0 {
		_ = socket.Write(ctx, websocket.MessageBinary, data)
	}
}

// typing sends input until it ends.
func (t *consoleTerminal) typing(ctx context.Context, cancel context.CancelCauseFunc, cmd *cobra.Command) {
	var e escapes
	buf := make([]byte, 4<<10)
	for {
		n, err := cmd.InOrStdin().Read(buf)
		out, command := e.feed(buf[:n])
		t.send(ctx, out)
		switch command {
		case escapeEnd:
			cancel(errTyped)
			return
		case escapeHelp:
			fmt.Fprint(cmd.ErrOrStderr(), escapeText)
		case noEscape:
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				cancel(err)
			}
			return
		}
	}
}

// escapes finds the input meant for the console command itself: a tilde at the start of a line and one character, as in
// ssh(1).
type escapes struct {
	inLine bool // the line has begun
	tilde  bool // a tilde at its start waits for the next character
}

// escape is a command of the person at the terminal.
type escape int

const (
	noEscape escape = iota
	escapeEnd
	escapeHelp
)

// feed takes typed bytes, and returns those for the machine and the first command. Bytes
// after a command to end are dropped.
func (e *escapes) feed(typed []byte) (out []byte, command escape) {
	for _, b := range typed {
		if e.tilde {
			e.tilde = false
			switch b {
			case '.':
				return out, escapeEnd
			case '?':
				command = escapeHelp
				continue
			case '~':
			default:
				out = append(out, '~')
			}
		} else if !e.inLine && b == '~' {
			e.tilde = true
			continue
		}
		out = append(out, b)
		e.inLine = b != '\r' && b != '\n'
	}
	return out, command
}

const escapeText = "\r\n~.  end    ~?  this help    ~~  a tilde\r\n"
