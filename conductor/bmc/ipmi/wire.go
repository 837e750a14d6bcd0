package ipmi

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"
)

// wire is the socket to one BMC, for one session. UDP delivers datagrams from any sender. go-ipmi checks no signature
// and panics on padding with a false length (v0.9.1, decryptPayload, in a goroutine of its own, where the panic cannot
// be recovered). While a session is set up, it takes the first datagram for the answer. So wire lets only datagrams
// through that answer the last packet sent. Inside a session they must also be new and signed by the BMC.
type wire struct {
	net.Conn
	account account
	cipher  cipher

	mu       sync.Mutex
	sent     uint8 // payload type of the last packet sent, with its flags
	role     uint8
	random   []byte // ours
	keys     *keys  // nil before RAKP message 2
	sequence uint32 // of the newest packet let in
	news     news
}

// news counts the events on the wire since a command began.
type news struct {
	status  types.RmcpStatusCode // by which the BMC refused a session
	dropped int                  // datagrams not let in
	taken   int                  // datagrams let in
	ended   error                // how waiting ended, nil with an answer
}

// ourSession is the session number go-ipmi gives all its sessions; a session
// has a socket of its own.
const ourSession = 0xa0a1a2a3

// Dial gives go-ipmi this socket for its own.
func (w *wire) Dial(string, string) (net.Conn, error) { return w, nil }

// Close does nothing when go-ipmi does it; the session closes the socket.
func (w *wire) Close() error { return nil }

// ask begins a command: nothing has been heard yet.
func (w *wire) ask() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news = news{ended: os.ErrDeadlineExceeded}
}

// interrupt ends the waiting of a command that was given up: go-ipmi leaves a
// goroutine behind that listens on, and the next command would wait for it.
func (w *wire) interrupt() { _ = w.SetReadDeadline(time.Unix(1, 0)) } // fails on a closed socket

// newsSinceAsk is the news since ask.
func (w *wire) newsSinceAsk() news {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.news
}

// Write sends one packet, and notes which answer to expect.
func (w *wire) Write(raw []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := parsePacket(raw); ok {
		w.sent = p.kind
		if p.kind == uint8(types.PayloadTypeRAKPMessage1) && len(p.payload) >= 25 {
			w.random, w.role = append([]byte(nil), p.payload[8:24]...), p.payload[24]
		}
	}
	n, err := w.Conn.Write(raw)
	if err != nil {
		w.news.ended = err
	}
	return n, err
}

// maxAnswers bounds the datagrams that one command of ours may take, of which
// reading an inventory is made of many: three areas of 2 KB, 16 bytes at a time,
// are some 400. go-ipmi asks for as long as the BMC answers that there is more.
const maxAnswers = 2000

var errEndless = fmt.Errorf("the BMC answers without end: more than %d datagrams came", maxAnswers)

// Read waits for a packet that may be let in, until the deadline.
func (w *wire) Read(to []byte) (int, error) {
	for {
		n, err := w.Conn.Read(to)
		if w.let(to[:n], err) || err != nil {
			return n, w.count(err)
		}
	}
}

// count bounds the number of datagrams that are let in.
func (w *wire) count(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news.taken++; err == nil && w.news.taken > maxAnswers {
		w.news.ended = errEndless
		return errEndless
	}
	return err
}

func (w *wire) let(raw []byte, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news.ended = err
	if err != nil {
		return false
	}
	ok := w.accept(raw)
	if !ok {
		w.news.dropped++
	}
	return ok
}

// accept reports whether a datagram answers the last packet sent.
func (w *wire) accept(raw []byte) bool {
	p, ok := parsePacket(raw)
	if !ok {
		return false
	}
	if w.sent&encryptedSigned != 0 {
		fresh := w.keys != nil && p.session == ourSession && p.sequence > w.sequence && w.keys.genuine(raw, p)
		if fresh {
			w.sequence = p.sequence
		}
		return fresh
	}
	if p.kind != answers[types.PayloadType(w.sent)] || p.session != 0 || len(p.payload) < 2 {
		return false
	}
	// A refusal is read here: ipmi_sim's ends after the status, too early for
	// go-ipmi.
	w.news.status = types.RmcpStatusCode(p.payload[1])
	refused := w.news.status != types.RmcpStatusCodeNoErrors
	return refused || p.kind != uint8(types.PayloadTypeRAKPMessage2) || w.agree(p.payload)
}

// answers are the payload types that answer the messages of a session's setup.
var answers = map[types.PayloadType]uint8{
	types.PayloadTypeRmcpOpenSessionRequest: uint8(types.PayloadTypeRmcpOpenSessionResponse),
	types.PayloadTypeRAKPMessage1:           uint8(types.PayloadTypeRAKPMessage2),
	types.PayloadTypeRAKPMessage3:           uint8(types.PayloadTypeRAKPMessage4),
}

// agree takes the session's keys from RAKP message 2.
func (w *wire) agree(rakp2 []byte) bool {
	if len(rakp2) < 40 || w.random == nil {
		return false
	}
	k, err := deriveKeys(w.cipher, w.account, w.role, w.random, rakp2[8:24])
	w.keys = k
	return err == nil
}
