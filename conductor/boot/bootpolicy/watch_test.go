package bootpolicy_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/watch"
)

const nodeUUID = "11111111-2222-4333-8444-555555555555"

// watched is a Watch that has seen another DHCP server, a stranger, and a node's port.
func watched(t *testing.T) (*bootpolicy.Watch, *watch.Log) {
	t.Helper()
	p := policy(t, node.Node{ProvisionState: node.Active, Name: "web-1"}, node.Port{PXEEnabled: true})
	at := time.Now().Add(-time.Hour)
	l := watch.New(func() time.Time { at = at.Add(10 * time.Minute); return at }, false)
	stranger, _ := net.ParseMAC("52:54:00:ff:ff:ff")
	known, _ := net.ParseMAC(mac)
	l.Record(pxe.Event{Service: pxe.DHCP, MAC: stranger, Message: "DISCOVER", Firmware: pxe.UEFI, Arch: 7,
		Relay: netip.MustParseAddr("10.99.0.1"), Reason: pxe.ReasonNoSubnet})
	l.Record(pxe.Event{Service: pxe.DHCP, MAC: known, Message: "REQUEST", Firmware: pxe.IPXE, Known: true,
		Subnet: netip.MustParsePrefix("10.77.0.0/24"), Server: netip.MustParseAddr("10.77.0.2"),
		Reason: pxe.ReasonOtherServer})
	l.Record(pxe.Event{Service: pxe.TFTP, IP: netip.MustParseAddr("10.77.0.9"), Message: "READ", File: "x",
		Reason: pxe.ReasonNoFile, Answer: "ERROR"})
	return &bootpolicy.Watch{Log: l, Engine: p.Engine}, l
}

// asked is the requests of some lines, each with its node.
func asked(lines []nodeapi.BootLine) (all []string) {
	for _, l := range lines {
		switch {
		case l.Event != nil:
			all = append(all, l.Event.NodeName+" "+l.Event.Asked)
		case l.Server != nil:
			all = append(all, l.Server.Address)
		}
	}
	return all
}

func TestWatchQueries(t *testing.T) {
	w, _ := watched(t)
	for name, tc := range map[string]struct {
		q    nodeapi.BootQuery
		want []string
	}{
		"everything": {nodeapi.BootQuery{Since: 2 * time.Hour},
			[]string{"10.77.0.2", " DISCOVER UEFI x64", "web-1 REQUEST iPXE", " TFTP x"}},
		"from now on": {nodeapi.BootQuery{}, []string{"10.77.0.2"}},
		"lately":      {nodeapi.BootQuery{Since: 35 * time.Minute}, []string{"10.77.0.2", "web-1 REQUEST iPXE", " TFTP x"}},
		"a node": {nodeapi.BootQuery{Since: 2 * time.Hour, Node: nodeUUID},
			[]string{"10.77.0.2", "web-1 REQUEST iPXE"}},
		"a machine": {nodeapi.BootQuery{Since: 2 * time.Hour, MAC: "52:54:00:ff:ff:ff"},
			[]string{"10.77.0.2", " DISCOVER UEFI x64"}},
	} {
		var got []nodeapi.BootLine
		err := w.Stream(t.Context(), tc.q, func(lines []nodeapi.BootLine) error { got = append(got, lines...); return nil })
		if diff := cmp.Diff(tc.want, asked(got)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestWatchFollows: later events are sent, after an ID nothing twice, and an error of the reader ends it.
func TestWatchFollows(t *testing.T) {
	w, l := watched(t)
	gone := errors.New("the reader has left")
	var last uint64
	batches := 0
	all := nodeapi.BootQuery{Since: 2 * time.Hour, Follow: true}
	err := w.Stream(t.Context(), all, func(lines []nodeapi.BootLine) error {
		batches++
		if batches == 1 {
			last = lines[len(lines)-1].Event.ID
			l.Record(pxe.Event{Service: pxe.TFTP, IP: netip.MustParseAddr("10.77.0.10"), File: "later"})
			return nil
		}
		if diff := cmp.Diff([]string{" TFTP later"}, asked(lines)); diff != "" {
			t.Error(diff)
		}
		return gone
	})
	if !errors.Is(err, gone) || batches != 2 {
		t.Errorf("%v after %d batches", err, batches)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = w.Stream(ctx, nodeapi.BootQuery{After: last, Follow: true}, func(lines []nodeapi.BootLine) error {
		if diff := cmp.Diff([]string{"10.77.0.2", " TFTP later"}, asked(lines)); diff != "" {
			t.Error(diff)
		}
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestWatchWire: an event with all that the wire has of it.
func TestWatchWire(t *testing.T) {
	w, _ := watched(t)
	var got []nodeapi.BootLine
	q := nodeapi.BootQuery{Since: 2 * time.Hour, Node: nodeUUID}
	if err := w.Stream(t.Context(), q, func(lines []nodeapi.BootLine) error { got = lines; return nil }); err != nil {
		t.Fatal(err)
	}
	e := *got[1].Event
	e.ID, e.At = 0, time.Time{}
	want := nodeapi.BootEvent{Times: 1, Service: "dhcp", MAC: mac, Node: nodeUUID, NodeName: "web-1",
		Subnet: "10.77.0.0/24", Asked: "REQUEST iPXE", Message: "REQUEST", Firmware: "ipxe",
		Server: "10.77.0.2", Reason: "other-server",
		Why: "it chose 10.77.0.2", Try: "stop that server"}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	s := w.Servers()
	if len(s) != 1 || s[0].Address != "10.77.0.2" || !s[0].Lends || s[0].Expected || s[0].Times != 1 {
		t.Errorf("%+v", s)
	}
}
