package dhcp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// rig is a server on loopback, a client of it, and its log.
type rig struct {
	*Server
	booter *pxetest.Booter
	leases pxe.Leases
	client *net.UDPConn
	asked  uint32 // requests sent
	log    *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func loopback() netip.Addr { return netip.MustParseAddr("127.0.77.1") }

func serve(t *testing.T, leases pxe.Leases) *rig {
	t.Helper()
	r := &rig{booter: &pxetest.Booter{}, leases: leases, log: &logBuffer{}}
	r.booter.Set(mac(1), pxe.Boot{Action: pxe.Ramdisk})
	var err error
	r.Server, err = Listen(t.Context(), Config{
		Server: loopback(), URL: "http://127.0.77.1:8088", Port: 6767,
		Subnets: []Subnet{
			{Prefix: netip.MustParsePrefix("127.0.77.0/24"), First: ip("127.0.77.100"), Last: ip("127.0.77.103")},
			{Prefix: netip.MustParsePrefix("10.88.0.0/24"), First: ip("10.88.0.10"), Last: ip("10.88.0.20"),
				Router: ip("10.88.0.1")},
		},
		Booter: r.booter, Leases: leases,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, r.Serve)
	r.client, err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(r.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.client.Close() }) // the test is over
	return r
}

func (r *rig) write(t *testing.T, b []byte) {
	t.Helper()
	if _, err := r.client.Write(b); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request and returns the reply to it; nil after a while without. Each has an ID of its own, so that a
// late reply to an earlier one does not count.
func (r *rig) ask(t *testing.T, req *dhcpv4.DHCPv4, patience time.Duration) *dhcpv4.DHCPv4 {
	t.Helper()
	r.asked++
	binary.BigEndian.PutUint32(req.TransactionID[:], r.asked)
	r.write(t, req.ToBytes())
	if err := r.client.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 2000); ; {
		n, err := r.client.Read(buf)
		if err != nil {
			return nil
		}
		reply, err := dhcpv4.FromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		if reply.TransactionID == req.TransactionID {
			return reply
		}
	}
}

const (
	longWait = time.Minute            // for expected replies
	again    = 500 * time.Millisecond // until a client that got no answer asks again
	silence  = 150 * time.Millisecond // for an answer that must not come
)

// persist asks again when nothing comes, as every client does.
func (r *rig) persist(t *testing.T, req *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	t.Helper()
	for end := time.Now().Add(longWait); time.Now().Before(end); {
		if reply := r.ask(t, req, again); reply != nil {
			return reply
		}
	}
	return nil
}

// logs waits until the server has logged text.
func (r *rig) logs(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(longWait); !strings.Contains(r.log.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q:\n%s", text, r.log)
		}
	}
}

// boot goes through DISCOVER and REQUEST as a boot ROM does.
func (r *rig) boot(t *testing.T, changes ...change) *dhcpv4.DHCPv4 {
	t.Helper()
	offer := r.persist(t, request(dhcpv4.MessageTypeDiscover, append(changes, biosROM)...))
	if offer == nil || offer.MessageType() != dhcpv4.MessageTypeOffer {
		t.Fatalf("got %v, want an offer; log:\n%s", offer, r.log)
	}
	ack := r.persist(t, request(dhcpv4.MessageTypeRequest, append(changes, biosROM,
		address(optRequested, offer.YourIPAddr.String()), address(optServer, loopback().String()))...))
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
		t.Fatalf("got %v, want an ack; log:\n%s", ack, r.log)
	}
	return ack
}

func TestServeBoot(t *testing.T) {
	leases := &pxetest.Leases{}
	r := serve(t, leases)
	ack := r.boot(t)
	if got := ack.BootFileNameOption(); got != "undionly.kpxe" {
		t.Errorf("boots %q", got)
	}
	r.boot(t) // the same machine again, minutes later
	if got := leases.Writes(); got != 1 {
		t.Errorf("%d writes for two boots, want 1", got)
	}
	var stages []pxe.Stage
	for _, s := range r.booter.Stages() {
		if s.Client.IP != addr(ack.YourIPAddr) {
			t.Errorf("stage %s at %v", s.Stage, s.Client.IP)
		}
		stages = append(stages, s.Stage)
	}
	want := []pxe.Stage{pxe.StageOffer, pxe.StageAck, pxe.StageOffer, pxe.StageAck}
	if diff := cmp.Diff(want, slices.Compact(stages)); diff != "" { // a client on a busy machine may ask twice
		t.Error(diff)
	}
	c, ok := r.Client(addr(ack.YourIPAddr), nil)
	if !ok || c.MAC.String() != mac(1).String() || c.Firmware != pxe.BIOS {
		t.Errorf("the address belongs to %+v, %v", c, ok)
	}
}

func TestServeKeepsAddressOverRestart(t *testing.T) {
	leases := &pxetest.Leases{}
	var first net.IP
	t.Run("before", func(t *testing.T) {
		first = serve(t, leases).boot(t, address(optRequested, "127.0.77.102")).YourIPAddr
	})
	t.Run("after", func(t *testing.T) {
		if got := serve(t, leases).boot(t).YourIPAddr; !got.Equal(first) {
			t.Errorf("had %v, got %v after the restart", first, got)
		}
	})
}

func TestServeRelay(t *testing.T) {
	r := serve(t, &pxetest.Leases{})
	circuit := []byte{1, 2, 'x', 'y'}
	ack := r.boot(t, giaddr("10.88.0.1"), option(optRelay, circuit...))
	if got := addr(ack.YourIPAddr); !netip.MustParsePrefix("10.88.0.0/24").Contains(got) {
		t.Errorf("got %v, which is not on the relay's network", got)
	}
	if diff := cmp.Diff(circuit, ack.Options[optRelay]); diff != "" {
		t.Error(diff)
	}
	if reply := r.ask(t, request(dhcpv4.MessageTypeDiscover, giaddr("10.99.0.1")), silence); reply != nil {
		t.Errorf("a relay of an unknown network got %v", reply)
	}
}

func TestServeSystemIsNoStage(t *testing.T) {
	r := serve(t, &pxetest.Leases{})
	if r.ask(t, request(dhcpv4.MessageTypeDiscover, system), longWait) == nil {
		t.Fatal("no offer")
	}
	if got := r.booter.Stages(); len(got) != 0 {
		t.Errorf("an operating system's DHCP counts as a boot stage: %v", got)
	}
}

// TestServeFlood sends many unknown machines and rubbish past a known one.
func TestServeFlood(t *testing.T) {
	leases := &pxetest.Leases{}
	r := serve(t, leases)
	for n := range 2000 {
		r.write(t, request(dhcpv4.MessageTypeDiscover, func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = mac(1000 + n) }).ToBytes())
		r.write(t, []byte(strings.Repeat("x", n%400)))
	}
	r.boot(t)
	r.mu.Lock()
	held := len(r.pool.entries)
	r.mu.Unlock()
	if held != 1 || leases.Writes() != 1 {
		t.Errorf("%d addresses held, %d writes; want 1 and 1", held, leases.Writes())
	}
}

func TestServeExhausted(t *testing.T) {
	r := serve(t, &pxetest.Leases{})
	as := func(n int) change { return func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = mac(n) } }
	for n := range 4 {
		r.booter.Set(mac(n+10), pxe.Boot{Action: pxe.Address})
		r.boot(t, as(n+10))
	}
	if reply := r.ask(t, request(dhcpv4.MessageTypeDiscover), silence); reply != nil {
		t.Errorf("got %v from an exhausted pool", reply)
	}
	r.logs(t, "no free address between 127.0.77.100 and 127.0.77.103")
	r.write(t, request(dhcpv4.MessageTypeRelease, as(12), ciaddr("127.0.77.102")).ToBytes())
	if got := r.boot(t).YourIPAddr.String(); got != "127.0.77.102" {
		t.Errorf("got %s, want the one that was released", got)
	}
	// It finds the address in use: that one is set aside, and nothing else is left.
	r.write(t,
		request(dhcpv4.MessageTypeDecline, address(optRequested, "127.0.77.102"),
			address(optServer, loopback().String())).ToBytes())
	for end := time.Now().Add(longWait); r.ask(t, request(dhcpv4.MessageTypeDiscover), silence) != nil; {
		if time.Now().After(end) { // the server's workers may take two requests in either order
			t.Fatal("the declined address, the last one, is still offered")
		}
	}
}

// TestServeTellsStrangers: after a restart, leases on record are asked about.
func TestServeTellsStrangers(t *testing.T) {
	leases := &pxetest.Leases{}
	for i, n := range []int{1, 2, 3} {
		l := pxe.Lease{MAC: mac(n), IP: netip.AddrFrom4([4]byte{127, 0, 77, byte(100 + i)}),
			Expires: time.Now().Add(time.Hour)}
		if err := leases.SaveLease(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	r := serve(t, leases) // machine 1 is enrolled
	r.booter.Set(mac(2), pxe.Boot{Action: pxe.Ramdisk, Stranger: true})
	r.logStrangers(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	for n, want := range map[int]bool{1: false, 2: true, 3: true} {
		if got := r.pool.entries[hwaddr(mac(n))].stranger; got != want {
			t.Errorf("machine %d is taken for a stranger: %t", n, got)
		}
	}
}

func TestServeReload(t *testing.T) {
	leases := &pxetest.Leases{}
	r := serve(t, leases)
	if err := leases.SaveLease(t.Context(), pxe.Lease{MAC: mac(1), IP: ip("127.0.77.9"), Static: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.boot(t).YourIPAddr.String(); got != "127.0.77.9" {
		t.Errorf("got %s, want the reservation", got)
	}
	if leases.Writes() != 1 {
		t.Error("a reservation was written again")
	}
}

type book = pxe.Leases // an embedded field may not be called as its method is

// broken fails to write.
type broken struct{ book }

func (broken) SaveLease(context.Context, ...pxe.Lease) error { return errors.New("the disk is full") }

func TestServeSaysNothingItCannotRecord(t *testing.T) {
	r := serve(t, broken{&pxetest.Leases{}})
	offer := r.ask(t, request(dhcpv4.MessageTypeDiscover), longWait)
	if offer == nil {
		t.Fatal("no offer")
	}
	wants := address(optRequested, offer.YourIPAddr.String())
	if reply := r.ask(t, request(dhcpv4.MessageTypeRequest, wants, address(optServer, loopback().String())),
		silence); reply != nil {
		t.Errorf("got %v, although the lease is not on record", reply)
	}
	r.logs(t, "the disk is full")
}

func TestListenErrors(t *testing.T) {
	r := serve(t, &pxetest.Leases{})
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"port taken":      {func(*Config) {}, "port 6767"},
		"no such link":    {func(c *Config) { c.Interface = "nosuch0" }, "interface nosuch0"},
		"not our address": {func(c *Config) { c.Server = ip("192.0.2.1") }, "does not have the address 192.0.2.1"},
		"bad subnet":      {func(c *Config) { c.Subnets = []Subnet{{}} }, "expected an IPv4 prefix"},
	} {
		c := r.conf
		tc.change(&c)
		s, err := Listen(t.Context(), c)
		if err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close() // it should not be there at all
			continue
		}
		if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServeComplainsOnce: replies that cannot be sent, as those to a relay that
// does not exist, do not fill the log.
func TestServeComplainsOnce(t *testing.T) {
	r := serve(t, &pxetest.Leases{})
	c := r.conf
	c.Server = ip("127.0.77.2")
	deaf, err := Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := deaf.Close(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		deaf.handle(t.Context(), incoming{request(dhcpv4.MessageTypeDiscover),
			r.client.LocalAddr().(*net.UDPAddr).AddrPort()})
	}
	if n := strings.Count(r.log.String(), "dhcp reply not sent"); n != 1 {
		t.Errorf("%d warnings, want 1; log:\n%s", n, r.log)
	}
}
