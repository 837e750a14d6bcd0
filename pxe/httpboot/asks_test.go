package httpboot

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe"
)

// listener remembers the last question, and has nothing to boot.
type listener struct{ asked pxe.Client }

func (l *listener) Boot(_ context.Context, c pxe.Client) (pxe.Boot, error) {
	l.asked = c
	return pxe.Boot{Action: pxe.Address}, nil
}

func (*listener) Reached(context.Context, pxe.Client, pxe.Stage) {}

// TestAsks: where the files of a machine are is asked for with those requests alone that need it.
func TestAsks(t *testing.T) {
	l := &listener{}
	h := New(Config{URL: "http://10.77.0.1:8088", Booter: l, Log: slog.New(slog.DiscardHandler),
		Client: func(ip netip.Addr, m net.HardwareAddr) (pxe.Client, bool) { return pxe.Client{MAC: m, IP: ip}, true }})
	for path, want := range map[string]pxe.Client{
		pxe.ScriptPath(mac(1)): {Script: true, Files: true}, pxe.KernelPath(mac(1)): {Files: true},
		pxe.InitrdPath(mac(1)): {Files: true}, pxe.OverlayPath(mac(1)): {}, pxe.FailedPath(mac(1)): {},
	} {
		l.asked = pxe.Client{}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		if l.asked.MAC == nil || l.asked.Script != want.Script || l.asked.Files != want.Files {
			t.Errorf("%s: asked as %+v", path, l.asked)
		}
	}
}
