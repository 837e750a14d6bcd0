package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents"
	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
	"github.com/ferrite-metal/ferrite/conductor/boot/configdrive"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/server/metrics"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	bootserver "github.com/ferrite-metal/ferrite/pxe/server"
)

// startBoot runs a conductor and its boot service as serve does, but on the
// loopback's high ports.
func startBoot(t *testing.T) (*conductor, *bootserver.Server) {
	t.Helper()
	loaders := t.TempDir()
	for _, name := range loader.Files() {
		if err := os.WriteFile(filepath.Join(loaders, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	logged := &apitest.Log{}
	log := slog.New(slog.NewTextHandler(logged, nil))
	conf := Config{Settings: plan.Settings{ConductorName: "test", DeployTimeout: time.Minute, CleanTimeout: time.Minute,
		InspectTimeout: time.Minute, BMC: node.Patience{Power: time.Minute}, FastTrackTimeout: time.Minute}}
	drivers, err := bmc.New([]string{"fake-hardware"}, bmc.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drivers.Close(); err != nil {
			t.Error(err)
		}
	})
	eng := engine.New(engine.Config{
		Store: mem.New(), BMCs: map[string]engine.BMC{"fake-hardware": drivers.Types()["fake-hardware"]},
		Agents: agents.NewClient(agents.ClientOptions{}), Drives: configdrive.Encoder{}, Settings: conf.Settings, Log: log,
	})
	policy := &bootpolicy.Policy{Engine: eng, Log: log}
	at := netip.MustParseAddr("127.0.78.1")
	boot, err := bootserver.Listen(t.Context(), bootserver.Config{
		Address: at, LoaderDir: loaders, HTTPAddr: netip.AddrPortFrom(at, 0),
		Subnets: []dhcp.Subnet{{Prefix: netip.MustParsePrefix("127.0.78.0/24"),
			First: netip.MustParseAddr("127.0.78.100"), Last: netip.MustParseAddr("127.0.78.110")}},
		Booter: policy, Leases: policy, Log: log, DHCPPort: 6787, TFTPPort: 6989,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logs, err := bootlog.Open(t.TempDir(), bootlog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, fail := context.WithCancelCause(context.Background())
	c := &conductor{URL: "http://" + l.Addr().String(), Log: logged, Stop: func() { fail(nil) },
		Ended: make(chan error, 1)}
	counters := metrics.New()
	parts := serving{
		work: &work{conf: conf, fail: fail, engine: eng, boot: boot, log: log, counters: counters,
			face: api.New(api.Options{Conductor: eng, Boot: boot, Log: log, Logs: logs, Stopping: ctx})},
		listener: l,
	}
	go func() { c.Ended <- parts.run(ctx) }()
	t.Cleanup(func() { c.End(t) })
	return c, boot
}

// TestReservation: DHCP hands out an address reserved while the conductor runs, until the reservation is deleted. A
// reservation that DHCP could not honour is refused.
func TestReservation(t *testing.T) {
	c, boot := startBoot(t)
	mac := net.HardwareAddr{0x52, 0x54, 0, 0x78, 0, 1}
	path := "/ferrite/v1/leases/" + mac.String()
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, http.StatusCreated)
	c.Call(t, "POST", "/v1/ports", map[string]any{"address": mac.String(), "node_uuid": n["uuid"]}, http.StatusCreated)
	expect := func(when, want string) {
		t.Helper()
		if ip := pxetest.Offer(t, boot.DHCPAddr(), mac).YourIPAddr.String(); ip != want {
			t.Errorf("%s DHCP offers %s, want %s", when, ip, want)
		}
	}
	expect("without a reservation", "127.0.78.100")
	c.Call(t, "PUT", path, map[string]any{"ip": "127.0.78.50"}, http.StatusOK)
	expect("with one outside the pool", "127.0.78.50")
	c.Call(t, "PUT", path, map[string]any{"ip": "127.0.78.105"}, http.StatusOK)
	expect("with one inside the pool", "127.0.78.105")
	for _, bad := range []string{"127.0.79.50", "127.0.78.255", "127.0.78.1"} {
		c.Call(t, "PUT", path, map[string]any{"ip": bad}, http.StatusBadRequest)
	}
	expect("after refused ones", "127.0.78.105")
	c.Call(t, "DELETE", path, map[string]any{}, http.StatusNoContent)
	expect("after it is deleted", "127.0.78.100")
}
