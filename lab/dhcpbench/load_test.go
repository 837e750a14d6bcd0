//go:build dhcpbench

package dhcpbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	patience = 2 * time.Second // until a client asks again
	tries    = 3               // until it goes without
)

// load is clients behind a relay, each with a new MAC.
type load struct {
	conn *net.UDPConn
	next uint32 // client
	done int

	mu      sync.Mutex
	waiting map[uint32]chan *dhcpv4.DHCPv4 // by transaction, which is the client
}

// result is the outcome of a number of clients.
type result struct {
	done, lost int
	took       time.Duration
	each       []time.Duration // of those that got an address
}

// at is the time within which percent of the clients had their address.
func (r result) at(percent int) time.Duration {
	if len(r.each) == 0 {
		return 0
	}
	slices.Sort(r.each)
	return r.each[(len(r.each)-1)*percent/100].Round(100 * time.Microsecond)
}

func newLoad() (*load, error) {
	to := net.UDPAddr{IP: net.ParseIP(theirs), Port: dhcpv4.ServerPort}
	conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(ours), Port: dhcpv4.ServerPort}, &to)
	if err != nil {
		return nil, err
	}
	if err := conn.SetReadBuffer(8 << 20); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	l := &load{conn: conn, waiting: map[uint32]chan *dhcpv4.DHCPv4{}}
	go l.hear()
	return l, nil
}

func (l *load) close() { _ = l.conn.Close() } // ends hear

// hear gives each answer to its client.
func (l *load) hear() {
	buf := make([]byte, 2048)
	for {
		n, err := l.conn.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the server does not listen yet
			continue
		}
		p, err := dhcpv4.FromBytes(buf[:n])
		if err != nil {
			continue
		}
		l.mu.Lock()
		c := l.waiting[binary.BigEndian.Uint32(p.TransactionID[:])]
		l.mu.Unlock()
		if c != nil {
			select {
			case c <- p:
			default: // it has one
			}
		}
	}
}

// await waits until the server answers.
func (l *load) await(ctx context.Context) error {
	for range 60 {
		if r := l.ask(ctx, 1, time.Hour, 1); r.done == 1 || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.New("it does not answer; see its output with DHCPBENCH_LOG=1")
}

// ask has new clients get an address, some at a time, for so long, or as many of them as are given.
func (l *load) ask(ctx context.Context, at int, d time.Duration, most int) (r result) {
	began := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	asked := 0
	for range at {
		wg.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				if time.Since(began) >= d || most > 0 && asked >= most {
					mu.Unlock()
					return
				}
				asked++
				l.next++
				n := l.next
				mu.Unlock()
				start := time.Now()
				ok := l.client(n)
				mu.Lock()
				if ok {
					r.done++
					r.each = append(r.each, time.Since(start))
				} else {
					r.lost++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.took = time.Since(began)
	l.done += r.done
	return r
}

// client is one machine: DISCOVER, OFFER, REQUEST, ACK.
func (l *load) client(n uint32) bool {
	answers := make(chan *dhcpv4.DHCPv4, 1)
	l.mu.Lock()
	l.waiting[n] = answers
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, n)
		l.mu.Unlock()
	}()
	offer := l.exchange(request(n, dhcpv4.MessageTypeDiscover), dhcpv4.MessageTypeOffer, answers)
	if offer == nil {
		return false
	}
	req := request(n, dhcpv4.MessageTypeRequest)
	req.UpdateOption(dhcpv4.OptRequestedIPAddress(offer.YourIPAddr))
	req.UpdateOption(dhcpv4.OptServerIdentifier(offer.ServerIdentifier()))
	return l.exchange(req, dhcpv4.MessageTypeAck, answers) != nil
}

// exchange asks until it is answered as it wants.
func (l *load) exchange(req *dhcpv4.DHCPv4, want dhcpv4.MessageType, answers chan *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	for range tries {
		_, _ = l.conn.Write(req.ToBytes()) // a datagram that is not sent is lost
		for late := time.After(patience); ; {
			select {
			case got := <-answers:
				if got.MessageType() == want {
					return got
				}
				continue
			case <-late:
			}
			break
		}
	}
	return nil
}

func macOf(n uint32) net.HardwareAddr {
	return net.HardwareAddr{2, 0xfe, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

func request(n uint32, t dhcpv4.MessageType) *dhcpv4.DHCPv4 {
	p, err := dhcpv4.New(dhcpv4.WithMessageType(t), dhcpv4.WithHwAddr(macOf(n)), dhcpv4.WithRelay(net.ParseIP(ours)),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00007:UNDI:003016")))
	if err != nil { // no random numbers
		panic(fmt.Sprint("dhcpbench: ", err))
	}
	binary.BigEndian.PutUint32(p.TransactionID[:], n)
	return p
}
