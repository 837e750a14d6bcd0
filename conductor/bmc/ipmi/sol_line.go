package ipmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/bougou/go-ipmi/pkg/command/app"
	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/sol"
)

// Times of a line on which nothing happens: BMCs end a session after 60 s (IPMI v2.0, 6.12.15).
const (
	keepAliveEvery = 15 * time.Second
	deadAfter      = 45 * time.Second
)

// solLine is an activation of serial over LAN, and the session it lives in.
type solLine struct {
	s      *session
	sol    *sol.Session
	output chan []byte
	input  chan []byte
	stop   chan struct{}
	ended  chan struct{} // closed after err is set
	err    error
	rest   []byte // of output, for Read
	close  func() error
}

// newSOLLine takes over the session's socket until it is closed.
func newSOLLine(s *session, size int) *solLine {
	// The size covers the whole payload, and its first 4 bytes are no characters. Some BMCs report nonsense.
	if size -= 4; size < 1 || size > sol.MaxData {
		size = 32
	}
	l := &solLine{s: s, sol: sol.New(size), output: make(chan []byte, 16), input: make(chan []byte),
		stop: make(chan struct{}), ended: make(chan struct{})}
	l.close = sync.OnceValue(l.end)
	go l.run()
	return l
}

// Read returns the machine's output; io.EOF after Close.
func (l *solLine) Read(to []byte) (int, error) {
	if len(l.rest) == 0 {
		select {
		case l.rest = <-l.output:
		case <-l.ended:
			select { // output from before the end
			case l.rest = <-l.output:
			default:
				return 0, l.err
			}
		}
	}
	n := copy(to, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Write sends input. It waits while the machine takes none.
func (l *solLine) Write(data []byte) (int, error) {
	select {
	case l.input <- append([]byte{}, data...):
		return len(data), nil
	case <-l.ended:
		return 0, l.err
	}
}

// Close deactivates serial over LAN and gives the session back.
func (l *solLine) Close() error { return l.close() }

func (l *solLine) end() error {
	close(l.stop)
	<-l.ended
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	l.s.tries = 2
	var err error
	if errors.Is(l.err, io.EOF) { // otherwise another session may have it now
		err = l.s.deactivate(ctx)
	}
	return errors.Join(err, l.s.close(ctx))
}

// run moves packets until the line ends.
func (l *solLine) run() {
	packets, broken := make(chan inbound), make(chan error, 1)
	done := make(chan struct{})
	var reading sync.WaitGroup
	_ = l.s.wire.SetReadDeadline(time.Time{}) // fails on a closed socket, which reading shows
	reading.Go(func() { broken <- l.listen(packets, done) })
	err := l.pump(packets, broken)
	close(done)
	l.s.wire.interrupt()
	reading.Wait()
	l.err = err
	close(l.ended)
}

// inbound is a packet that the BMC signed; payload is nil for a packet that is not SOL.
type inbound struct{ payload []byte }

// listen reads packets until the socket ends.
func (l *solLine) listen(to chan<- inbound, done <-chan struct{}) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := l.s.wire.Conn.Read(buf)
		if err != nil {
			return err
		}
		payload, ok := l.s.wire.acceptSOL(buf[:n])
		if !ok {
			continue
		}
		select {
		case to <- inbound{payload}:
		case <-done:
			return os.ErrDeadlineExceeded
		}
	}
}

// pump is the life of a line.
func (l *solLine) pump(packets <-chan inbound, broken <-chan error) error {
	heard, asked := time.Now(), time.Now()
	var waiting []byte // input for which there was no room
	for {
		now := time.Now()
		switch {
		case now.Sub(heard) > deadAfter:
			return fmt.Errorf("the BMC has not answered for %s", deadAfter)
		case now.Sub(asked) > keepAliveEvery:
			asked = now
			if err := l.send(&app.GetDeviceIDRequest{}); err != nil {
				return err
			}
		}
		waiting = waiting[l.sol.Queue(waiting):]
		payload, wait, err := l.sol.Next(now)
		if err == nil && payload != nil {
			err = l.sendSOL(payload)
		}
		if err != nil {
			return err
		}
		input := l.input
		if len(waiting) > 0 {
			input = nil
		}
		timer := time.NewTimer(min(wait, keepAliveEvery/4))
		select {
		case <-l.stop:
			timer.Stop()
			return io.EOF
		case err := <-broken:
			timer.Stop()
			return &wireError{command: "serial over LAN", cause: err}
		case waiting = <-input:
		case p := <-packets:
			heard = time.Now()
			if err := l.receive(p); err != nil {
				timer.Stop()
				return err
			}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// lostText stands where the BMC dropped output.
const lostText = "\r\n[the BMC has lost output here]\r\n"

func (l *solLine) receive(p inbound) error {
	if p.payload == nil {
		return nil
	}
	r, ended := l.sol.Receive(time.Now(), p.payload)
	if r.Ack != nil {
		if err := l.sendSOL(r.Ack); err != nil {
			return err
		}
	}
	out := append([]byte{}, r.Output...)
	if r.Lost {
		out = append([]byte(lostText), out...)
	}
	if len(out) > 0 {
		select {
		case l.output <- out:
		case <-l.stop:
			return io.EOF
		}
	}
	return ended
}

// sendSOL sends one payload of serial over LAN.
func (l *solLine) sendSOL(payload []byte) error {
	var request types.SOLPayloadRequest
	if err := request.Unpack(payload); err != nil {
		return err
	}
	return l.send(&request)
}

// send sends a request. go-ipmi numbers, encrypts and signs it with the session's others; listen reads the answer, if
// any.
func (l *solLine) send(r types.Request) error {
	packet, err := l.s.client.BuildRmcpRequest(context.Background(), r)
	if err != nil {
		return err
	}
	if _, err := l.s.wire.Write(packet.Pack()); err != nil {
		return &wireError{command: r.Command().Name, cause: err}
	}
	return nil
}

// acceptSOL lets a packet in that the BMC signed and that is new. Its payload is nil when it
// is the answer to a command.
func (w *wire) acceptSOL(raw []byte) (payload []byte, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := parsePacket(raw)
	if !ok || w.keys == nil || p.session != ourSession || p.sequence <= w.sequence {
		return nil, false
	}
	if payload, ok = w.keys.open(raw, p, types.PayloadTypeSOL); !ok {
		payload, ok = nil, w.keys.genuine(raw, p)
	}
	if ok {
		w.sequence = p.sequence
	}
	return payload, ok
}
