package sol

import (
	"errors"
	"time"
)

// The ends of a session.
var (
	ErrDeactivated = errors.New("the BMC has ended serial over LAN: another session took it, or it was switched off")
	ErrSilent      = errors.New("the BMC does not acknowledge the keys that are typed")
)

// Times of retransmission, and the bound of input that waits.
const (
	RetryInterval = 500 * time.Millisecond
	maxTries      = 6
	maxQueue      = 16 << 10
)

// Session is one activation of the payload. It is not safe for concurrent use.
type Session struct {
	size     int    // characters of one packet
	queue    []byte // input not sent
	flight   []byte // input sent and not acknowledged
	sequence uint8  // of flight, or of the last packet
	tries    int
	next     time.Time // when flight is sent again, or more may be sent

	last     uint8 // sequence number of the BMC's newest packet, 0 before the first
	accepted int   // characters of it that were taken
}

// New is a session. Its packets to the BMC hold at most size characters.
func New(size int) *Session { return &Session{size: max(1, min(size, MaxData))} }

// Queue takes input and returns how much there was room for.
func (s *Session) Queue(data []byte) int {
	n := max(0, min(len(data), maxQueue-len(s.queue)-len(s.flight)))
	s.queue = append(s.queue, data[:n]...)
	return n
}

// Received is the content of a packet.
type Received struct {
	Output []byte // of the machine
	Ack    []byte // the payload to answer with, nil for none
	Lost   bool   // the BMC dropped output before it was sent
}

// Receive takes a payload of the BMC. The error is ErrDeactivated.
func (s *Session) Receive(now time.Time, payload []byte) (r Received, err error) {
	p, ok := Parse(payload)
	if !ok {
		return r, nil
	}
	s.acknowledge(now, p)
	r.Lost = p.Status&statusOverrun != 0
	if p.Sequence != 0 {
		from := 0
		if p.Sequence == s.last { // sent again, perhaps with more in it (15.9)
			from = min(s.accepted, len(p.Data))
		}
		r.Output = p.Data[from:]
		s.last, s.accepted = p.Sequence, len(p.Data)
		r.Ack = Packet{Acked: p.Sequence, Accepted: uint8(len(p.Data))}.Bytes() //nolint:gosec // Parse bounds it
	}
	if p.Status&statusDeactivating != 0 {
		err = ErrDeactivated
	}
	return r, err
}

// acknowledge queues the part of the packet under way that the BMC did not accept.
func (s *Session) acknowledge(now time.Time, p Packet) {
	if len(s.flight) == 0 || p.Acked != s.sequence {
		return
	}
	taken := min(int(p.Accepted), len(s.flight))
	if p.Status&statusNACK != 0 {
		taken = 0
	}
	rest := s.flight[taken:]
	if s.next = now; len(rest) > 0 {
		s.next = now.Add(RetryInterval) // its buffer is full
	}
	if taken > 0 {
		s.tries = 0
	}
	s.queue, s.flight = append(append([]byte{}, rest...), s.queue...), nil
}

// Next is the payload to send now, nil for none, and how long to wait before asking again,
// unless something happens earlier. The error is ErrSilent.
func (s *Session) Next(now time.Time) (payload []byte, wait time.Duration, err error) {
	if len(s.flight) == 0 && len(s.queue) == 0 {
		return nil, time.Hour, nil
	}
	if wait := s.next.Sub(now); wait > 0 {
		return nil, wait, nil
	}
	if s.tries++; s.tries > maxTries {
		return nil, 0, ErrSilent
	}
	if len(s.flight) == 0 {
		n := min(len(s.queue), s.size)
		s.flight, s.queue = s.queue[:n:n], s.queue[n:]
		s.sequence = s.sequence%15 + 1
	}
	s.next = now.Add(RetryInterval)
	return Packet{Sequence: s.sequence, Data: s.flight}.Bytes(), RetryInterval, nil
}
