package qemu

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage bounds one QMP message; QEMU's longest here are a few KiB.
const maxMessage = 1 << 20

// errHungUp says that QEMU closed the monitor: it has ended.
var errHungUp = errors.New("qemu closed its monitor")

// message is anything QEMU says on its monitor (QMP specification, section 2):
// a greeting, a return, an error or an event.
type message struct {
	QMP    json.RawMessage `json:"QMP"`
	Event  string          `json:"event"`
	Data   json.RawMessage `json:"data"`
	ID     uint64          `json:"id"`
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Class string `json:"class"`
		Desc  string `json:"desc"`
	} `json:"error"`
}

// shutdownData is the data of a SHUTDOWN event. Reasons seen: guest-reset,
// guest-shutdown, guest-panic, host-qmp-quit, host-signal.
type shutdownData struct {
	Reason string `json:"reason"`
}

// parseMessage reads one line from the monitor.
func parseMessage(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("qmp message %.80q: %w", line, err)
	}
	return m, nil
}

// monitor is a client of one QEMU's QMP socket.
type monitor struct {
	conn    io.ReadWriteCloser
	onEvent func(message)

	ready chan struct{} // closed by the greeting
	done  chan struct{} // closed when QEMU hung up
	err   error         // why, valid after done

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan message
}

// newMonitor reads from conn until QEMU hangs up; onEvent is called from the
// reader for each event, in order, the last one before done is closed.
func newMonitor(conn io.ReadWriteCloser, onEvent func(message)) *monitor {
	m := &monitor{
		conn: conn, onEvent: onEvent,
		ready: make(chan struct{}), done: make(chan struct{}),
		pending: map[uint64]chan message{},
	}
	go m.read()
	return m
}

func (m *monitor) read() {
	defer close(m.done)
	lines := bufio.NewScanner(m.conn)
	lines.Buffer(nil, maxMessage)
	greeted := false
	for lines.Scan() {
		msg, err := parseMessage(lines.Bytes())
		if err != nil {
			m.err = err
			return
		}
		switch {
		case msg.QMP != nil && !greeted:
			greeted = true
			close(m.ready)
		case msg.Event != "":
			m.onEvent(msg)
		default:
			m.answer(msg)
		}
	}
	m.err = errors.Join(errHungUp, lines.Err())
}

// answer hands a reply to its caller, or drops it when the caller no longer waits.
func (m *monitor) answer(msg message) {
	m.mu.Lock()
	waiting := m.pending[msg.ID]
	delete(m.pending, msg.ID)
	m.mu.Unlock()
	if waiting != nil {
		waiting <- msg
	}
}

// handshake waits for the greeting and leaves negotiation mode.
func (m *monitor) handshake(ctx context.Context) error {
	select {
	case <-m.ready:
	case <-m.done:
		return m.err
	case <-ctx.Done():
		return fmt.Errorf("qmp greeting: %w", ctx.Err())
	}
	return m.execute(ctx, "qmp_capabilities", nil)
}

// execute runs one command and waits for its answer.
func (m *monitor) execute(ctx context.Context, command string, arguments map[string]any) error {
	answer := make(chan message, 1)
	m.mu.Lock()
	m.lastID++
	id := m.lastID
	m.pending[id] = answer
	request, err := json.Marshal(map[string]any{"execute": command, "arguments": orEmpty(arguments), "id": id})
	if err == nil {
		_, err = m.conn.Write(append(request, '\n'))
	}
	m.mu.Unlock()
	if err != nil {
		return fmt.Errorf("qmp %s: %w", command, err)
	}
	select {
	case msg := <-answer:
		if msg.Error != nil {
			return fmt.Errorf("qmp %s: %s: %s", command, msg.Error.Class, msg.Error.Desc)
		}
		return nil
	case <-m.done:
		return fmt.Errorf("qmp %s: %w", command, m.err)
	case <-ctx.Done():
		m.mu.Lock()
		delete(m.pending, id)
		m.mu.Unlock()
		return fmt.Errorf("qmp %s: %w", command, ctx.Err())
	}
}

// orEmpty is arguments, or an empty object: QEMU refuses null.
func orEmpty(arguments map[string]any) map[string]any {
	if arguments == nil {
		return map[string]any{}
	}
	return arguments
}
