package redfish_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	lab "github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

func TestDriverOfLab(t *testing.T) {
	bmctest.Run(t, func(t *testing.T) (bmc.Driver, node.Node) {
		b := newBench(t)
		return newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	})
}

// A BMC's description of its machine arrives whole.
func TestDriverSystem(t *testing.T) {
	b := newBench(t)
	got, err := newDriver(t, redfish.Options{}).System(t.Context(), b.node(redfishtest.Password))
	if err != nil {
		t.Fatal(err)
	}
	want := node.System{
		UUID: redfishtest.SystemUUID, Manufacturer: got.Manufacturer, Model: got.Model, Serial: "NODE-0",
		BIOSVersion: "OVMF", MemoryMB: 1536, CPUs: 2, Architecture: "x86_64", BootMode: "uefi",
		MACs: []string{"52:54:00:77:00:01", "52:54:00:77:00:02"},
	}
	uuid, err := newDriver(t, redfish.Options{}).SystemUUID(t.Context(), b.node(redfishtest.Password))
	if err != nil || uuid != want.UUID {
		t.Errorf("the UUID alone is %q, %v", uuid, err)
	}
	if got.Manufacturer == "" || got.Model == "" {
		t.Errorf("no manufacturer or model: %+v", got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Many callers, one session, one request at a time, nothing left behind.
func TestDriverIsGentle(t *testing.T) {
	b := newBench(t)
	d := newDriver(t, redfish.Options{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := d.SetBootDevice(t.Context(), b.node(redfishtest.Password), "pxe", false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c := b.Counters(); c.Logins != 1 || c.Sessions != 1 || c.MaxInFlight != 1 {
		t.Errorf("after ten calls at once: %+v", c)
	}
	b.clock.Advance(2 * time.Minute) // the controller forgets the session
	if _, err := d.PowerState(t.Context(), b.node(redfishtest.Password)); err != nil || b.Counters().Logins != 2 {
		t.Errorf("after the session ran out: %v, %+v", err, b.Counters())
	}
	if err := d.Close(); err != nil || b.Counters().Sessions != 0 {
		t.Errorf("after the end: %v, %+v", err, b.Counters())
	}
}

// With all sessions taken by others, credentials go with every request.
func TestDriverWithoutSession(t *testing.T) {
	b := newBench(t)
	for range 2 { // the bench has two
		other := newDriver(t, redfish.Options{})
		if _, err := other.PowerState(t.Context(), b.node(redfishtest.Password)); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := newDriver(t, redfish.Options{}).PowerState(t.Context(), b.node(redfishtest.Password)); err != nil ||
		p != node.PowerOff {
		t.Errorf("power is %q, %v", p, err)
	}
}

func TestDriverWrongPassword(t *testing.T) {
	b := newBench(t)
	d := newDriver(t, redfish.Options{})
	for range 5 {
		_, err := d.PowerState(t.Context(), b.node("no such password"))
		var p interface{ Permanent() bool }
		if err == nil || !strings.Contains(err.Error(), `the credentials of user "admin" were refused`) ||
			strings.Contains(err.Error(), "no such") || !errors.As(err, &p) || !p.Permanent() {
			t.Fatalf("got %v", err)
		}
	}
	if c := b.Counters(); c.LoginFailures != 1 {
		t.Errorf("%d attempts with a wrong password, want 1", c.LoginFailures)
	}
}

// Every fault there is makes a clear error, and is over when it is over.
func TestDriverFaults(t *testing.T) {
	for kind, want := range map[lab.FaultKind]string{
		lab.Hang:    "the BMC did not answer GET " + systemPath + " within",
		lab.Drop:    "the BMC closed the connection in the middle of GET " + systemPath,
		lab.Garbage: "the answer is not JSON",
		lab.Busy:    "the BMC answered 503 Service Unavailable",
		lab.Broken:  "the BMC answered 500 Internal Server Error",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			o := redfish.Options{BackOff: time.Millisecond}
			if kind == lab.Hang {
				o.RequestTimeout = time.Second
			}
			d := newDriver(t, o)
			well := func() bool { _, err := d.PowerState(t.Context(), b.node(redfishtest.Password)); return err == nil }
			eventually(t, "it is well", well)
			if err := b.SetFault(lab.Fault{Kind: kind, Delay: time.Second, PathPrefix: systemPath}); err != nil {
				t.Fatal(err)
			}
			_, err := d.PowerState(t.Context(), b.node(redfishtest.Password))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			b.ClearFault()
			eventually(t, "it is well again", well)
		})
	}
}
