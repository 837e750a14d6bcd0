package dhcp

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// seen keeps the events of a server.
type seen struct {
	mu  sync.Mutex
	all []pxe.Event
}

func (s *seen) Record(e pxe.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, e)
}

// last waits for a number of events, and is the last of them.
func (s *seen) last(t *testing.T, n int) pxe.Event {
	t.Helper()
	for end := time.Now().Add(longWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		all := s.all
		s.mu.Unlock()
		if len(all) >= n {
			return all[n-1]
		}
	}
	t.Fatalf("%d events are missing", n)
	return pxe.Event{}
}

// short is an event in one line.
func short(e pxe.Event) string {
	words := []string{e.Asked()}
	for _, w := range []string{e.Answer, string(e.Reason)} {
		if w != "" {
			words = append(words, w)
		}
	}
	for name, a := range map[string]netip.Addr{"ip": e.IP, "relay": e.Relay, "server": e.Server} {
		if a.IsValid() {
			words = append(words, name+"="+a.String())
		}
	}
	return strings.Join(words, " ")
}

// TestEvents: each request to a server makes one event, with the reason for its answer.
func TestEvents(t *testing.T) {
	as := func(n int) change { return func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = mac(n) } }
	discover, req := dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest
	log := &seen{}
	leases := &pxetest.Leases{}
	for n, at := range map[int]string{9: "10.66.0.9"} {
		if err := leases.SaveLease(t.Context(), pxe.Lease{MAC: mac(n), IP: ip(at), Static: true}); err != nil {
			t.Fatal(err)
		}
	}
	booter := &pxetest.Booter{}
	s, err := Listen(t.Context(), Config{
		Server: loopback(), URL: "http://127.0.77.1:8088", Port: 6767,
		Subnets: []Subnet{
			{Prefix: netip.MustParsePrefix("127.0.77.0/24"), First: ip("127.0.77.100"), Last: ip("127.0.77.101")},
			{Prefix: netip.MustParsePrefix("10.88.0.0/24")},
		},
		Booter: booter, Leases: leases, Recorder: log, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, boot := range map[int]pxe.Boot{
		1: {Action: pxe.Ramdisk}, 2: {Action: pxe.Address, Why: pxe.ReasonOtherPort}, 3: {Why: pxe.ReasonUnknown},
		5: {Action: pxe.Address}, 9: {Action: pxe.Address},
	} {
		booter.Set(mac(n), boot)
	}
	defer s.Close()
	for i, tc := range []struct {
		req   *dhcpv4.DHCPv4
		want  string
		known bool
	}{
		{request(discover, biosROM, as(3)), "DISCOVER BIOS unknown-mac", false},
		{request(discover, biosROM, giaddr("10.99.0.1")), "DISCOVER BIOS no-subnet relay=10.99.0.1", true},
		{request(discover, biosROM, giaddr("10.88.0.1")), "DISCOVER BIOS no-pool relay=10.88.0.1", true},
		{request(discover, biosROM, as(9)), "DISCOVER BIOS reservation ip=10.66.0.9", true},
		{request(discover, biosROM), "DISCOVER BIOS OFFER undionly.kpxe ip=127.0.77.100", true},
		{request(discover, biosROM, arch(11)), "DISCOVER UEFI arm64 OFFER no-loader ip=127.0.77.100", true},
		{request(discover, system), "DISCOVER OS OFFER ip=127.0.77.100", true},
		{request(discover, biosROM, as(2)), "DISCOVER BIOS OFFER other-port ip=127.0.77.101", true},
		{request(discover, biosROM, as(5)), "DISCOVER BIOS pool-empty", true},
		{request(req, biosROM, address(optRequested, "127.0.77.100"), address(optServer, "127.0.77.1")),
			"REQUEST BIOS ACK undionly.kpxe ip=127.0.77.100", true},
		{request(req, biosROM, address(optRequested, "10.77.0.9"), address(optServer, "10.77.0.2")),
			"REQUEST BIOS other-server ip=127.0.77.100 server=10.77.0.2", true},
		{request(req, system, address(optRequested, "10.7.0.9")), "REQUEST OS NAK wrong-network ip=127.0.77.100", true},
		{request(dhcpv4.MessageTypeRelease, system, ciaddr("127.0.77.100")), "RELEASE OS noted ip=127.0.77.100", false},
	} {
		s.handle(t.Context(), incoming{tc.req, netip.MustParseAddrPort("127.0.0.1:9")})
		e := log.last(t, i+1)
		got := short(e)
		if e.IP.IsValid() && e.Server.IsValid() {
			got = strings.Join([]string{e.Asked(), string(e.Reason), "ip=" + e.IP.String(), "server=" + e.Server.String()}, " ")
		}
		if got != tc.want || e.Known != tc.known && e.Reason != pxe.ReasonUnknown || e.Service != pxe.DHCP {
			t.Errorf("%s, known %t\nwant %s, known %t", got, e.Known, tc.want, tc.known)
		}
	}
}

// TestProxyEvents: a proxy leaves the DHCP server's requests to it, and names the reason for any other silence.
func TestProxyEvents(t *testing.T) {
	log := &seen{}
	booter := &pxetest.Booter{}
	booter.Set(mac(1), pxe.Boot{Action: pxe.Ramdisk})
	booter.Set(mac(2), pxe.Boot{Action: pxe.Address})
	p, err := ListenProxy(t.Context(), Config{Server: netip.MustParseAddr("127.0.77.9"), URL: "http://127.0.77.9:8088",
		Port: 6767, Booter: booter, OtherDHCP: true, Recorder: log, Log: slog.New(slog.DiscardHandler)}, 6411)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	as2 := func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = mac(2) }
	discover, req := dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest
	for i, tc := range []struct {
		req      *dhcpv4.DHCPv4
		bootPort bool
		want     string
	}{
		{request(discover, biosROM), false, "DISCOVER BIOS OFFER undionly.kpxe"},
		{request(discover, biosROM, as2), false, "DISCOVER BIOS not-to-boot"},
		{request(discover, system), false, "DISCOVER OS system"},
		{request(req, biosROM, address(optServer, "10.77.0.2")), false,
			"REQUEST BIOS left to the DHCP server server=10.77.0.2"},
		{request(req, biosROM), true, "REQUEST BIOS ACK undionly.kpxe"},
		{request(discover, biosROM), true, "DISCOVER BIOS malformed"},
	} {
		w := p.wires[0]
		p.handle(t.Context(), incoming{tc.req, netip.MustParseAddrPort("127.0.0.1:9")}, tc.bootPort, w)
		if got := short(log.last(t, i+1)); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
	}
}

// TestReasonOf: every error of an answer has a reason.
func TestReasonOf(t *testing.T) {
	got := []pxe.Reason{reasonOf(because(pxe.ReasonNotSaved, errors.New("no disk"))), reasonOf(errors.New("x")),
		reasonOf(&ExhaustedError{Subnet: Subnet{First: ip("10.0.0.1")}}), reasonOf(&ExhaustedError{}),
		reasonOf(&ExhaustedError{Subnet: Subnet{First: ip("10.0.0.1")}, Stranger: true})}
	want := []pxe.Reason{pxe.ReasonNotSaved, pxe.ReasonPolicy, pxe.ReasonPoolEmpty, pxe.ReasonNoPool, pxe.ReasonStrangers}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNeighboursWarnedOnce: another server is warned of once, where none is expected.
func TestNeighboursWarnedOnce(t *testing.T) {
	for _, expected := range []bool{false, true} {
		b := &logBuffer{}
		n := newNeighbours(Config{OtherDHCP: expected, Log: slog.New(slog.NewTextHandler(b, nil))})
		for i := range 40 {
			n.noted(pxe.Event{MAC: mac(1), Server: netip.AddrFrom4([4]byte{10, 77, 0, byte(i / 2)})}, "its OFFER")
			n.noted(pxe.Event{MAC: mac(1)}, "its OFFER")
		}
		if warned, all := strings.Count(b.String(), "level=WARN"), strings.Count(b.String(), "\n"); all != maxNeighbours ||
			expected == (warned > 0) {
			t.Errorf("expected %t: %d lines, %d warnings", expected, all, warned)
		}
	}
}

// TestNoLoaderIsSaid: a machine that is to boot, and that there is no loader for, has that as its boot stage, with the
// architecture it asked with.
func TestNoLoaderIsSaid(t *testing.T) {
	booter := &pxetest.Booter{}
	booter.Set(mac(1), pxe.Boot{Action: pxe.Ramdisk})
	conf := Config{Server: netip.MustParseAddr("127.0.77.9"), Port: 6767, Booter: booter, Leases: &pxetest.Leases{},
		Subnets: []Subnet{{Prefix: netip.MustParsePrefix("127.0.77.0/24"), First: ip("127.0.77.100"),
			Last: ip("127.0.77.110")}}, Log: slog.New(slog.DiscardHandler)}
	s, err := Listen(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conf.Port = 6768
	p, err := ListenProxy(t.Context(), conf, 6411)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	from := netip.MustParseAddrPort("127.0.0.1:9")
	for code, want := range map[uint16]string{10: "UEFI arm32 (DHCP option 93 is 10)", 11: "UEFI arm64",
		27: "UEFI riscv64", 777: "UEFI arch 777", 19: "HTTP arm64"} {
		class := word(60, "PXEClient")
		if strings.HasPrefix(want, "HTTP") {
			class = word(60, "HTTPClient:Arch:00019")
		}
		req := request(dhcpv4.MessageTypeDiscover, biosROM, class, arch(code))
		s.handle(t.Context(), incoming{req, from})
		p.handle(t.Context(), incoming{req, from}, false, p.wires[0])
		all := booter.Stages()
		for _, got := range all[len(all)-2:] {
			if got.Stage != pxe.StageNone || !strings.HasPrefix(got.Client.Detail, want) ||
				!strings.HasSuffix(got.Client.Detail, "expected one of BIOS, UEFI x64, HTTP x64") {
				t.Errorf("arch %d: stage %q, %s", code, got.Stage, got.Client.Detail)
			}
		}
	}
}
