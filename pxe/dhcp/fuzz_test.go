package dhcp

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// FuzzReply feeds a request's bytes through parsing, the pool and the reply.
// Nothing may panic, and every reply must be one a client can read and that
// answers this very request.
func FuzzReply(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "requests", "*.hex"))
	if err != nil || len(files) == 0 {
		f.Fatal("no captured requests to start from", err)
	}
	for _, file := range files {
		b := captured(f, strings.TrimSuffix(filepath.Base(file), ".hex"))
		f.Add(b, byte(pxe.Ramdisk))
		f.Add(b[:len(b)/2], byte(pxe.Ramdisk))
	}
	for _, req := range []*dhcpv4.DHCPv4{
		request(dhcpv4.MessageTypeDiscover, biosROM),
		request(dhcpv4.MessageTypeRequest, system, ciaddr("10.77.0.100")),
		request(dhcpv4.MessageTypeRequest, system, address(optRequested, "10.99.0.1"), giaddr("10.77.0.254")),
		request(dhcpv4.MessageTypeInform, system, ciaddr("10.77.0.9")),
		request(dhcpv4.MessageTypeDiscover, option(optRelay, 5, 4, 10, 77, 0, 0), giaddr("10.77.0.254")),
	} {
		f.Add(req.ToBytes(), byte(pxe.Ramdisk))
	}
	f.Fuzz(func(t *testing.T, b []byte, action byte) {
		req, err := parse(b)
		if err != nil {
			return
		}
		pool := newPool(t, small(3))
		a := Answer{Server: ip("10.77.0.1"), URL: "http://10.77.0.1:8088"}
		sub, ok := pool.SubnetOf(addr(req.GatewayIPAddr), linkAddr(req, a.Server), req.ClientHWAddr)
		if !ok {
			return
		}
		a.Subnet = sub
		lease, err := bindingFor(pool, req, sub, a.Server, pxe.Boot{Stranger: action&4 != 0}, epoch())
		if err != nil {
			t.Fatalf("an empty pool has no address: %v", err)
		}
		reply, _ := Reply(req, pxe.Boot{Action: pxe.Action(action % 3)}, lease, a)
		if reply == nil {
			return
		}
		checkReply(t, req, reply, lease.IP)
		destination(reply, ports{67, 68})
	})
}

func checkReply(t *testing.T, req, reply *dhcpv4.DHCPv4, leased netip.Addr) {
	t.Helper()
	b, shed := encode(reply, messageSize(req))
	back, err := decode(b)
	if err != nil {
		t.Fatalf("the reply cannot be read: %v", err)
	}
	want := maps.Clone(reply.Options)
	for _, code := range shed {
		delete(want, code)
	}
	if diff := cmp.Diff(want, back.Options, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("options change on the way: %s", diff)
	}
	if back.TransactionID != req.TransactionID || back.ClientHWAddr.String() != req.ClientHWAddr.String() {
		t.Error("the reply is not for this request")
	}
	if yours := addr(back.YourIPAddr); yours.IsValid() && yours != leased {
		t.Errorf("lends %v, the pool says %v", yours, leased)
	}
	if room := messageSize(req) + len(options(dhcpv4.Options{82: req.Options[82]})); len(b) > room {
		t.Errorf("a reply of %d bytes, for a client that takes %d", len(b), room)
	}
}

func TestCapturesAreRequests(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("testdata", "requests"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := parse(captured(t, strings.TrimSuffix(e.Name(), ".hex"))); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
	}
}
