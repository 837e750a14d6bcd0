package redfish

import (
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

// bench is a controller on loopback with a fake machine behind it.
type bench struct {
	*Server
	*redfishtest.Client
	machine *redfishtest.Machine
	clock   *redfishtest.Clock
}

// newController is a controller without a listener.
func newController(t *testing.T, edit ...func(*Config)) *bench {
	t.Helper()
	b := &bench{Client: &redfishtest.Client{}, machine: redfishtest.NewMachineOf(redfishtest.SystemUUID),
		clock: redfishtest.NewClock()}
	c := Config{
		Machine: b.machine, Username: redfishtest.User, Password: redfishtest.Password,
		MaxSessions: 2, SessionTimeout: time.Minute,
		RAID: RAID{DriveGiB: []int{100, 100, 100, 200}}, TaskTime: time.Second, RestartTime: time.Second,
		Now: b.clock.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, change := range edit {
		change(&c)
	}
	b.Server = New(c)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func newBench(t *testing.T, edit ...func(*Config)) *bench {
	t.Helper()
	b := newController(t, edit...)
	server := httptest.NewServer(b.Server)
	b.URL = server.URL
	t.Cleanup(func() { // before the controller's own clean-up
		b.end() // ends hanging requests, which server.Close waits for
		server.Close()
	})
	return b
}
