package httpboot

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

// asked is a Booter that keeps the last client.
type asked struct{ client pxe.Client }

func (a *asked) Boot(_ context.Context, c pxe.Client) (pxe.Boot, error) {
	a.client = c
	return pxe.Boot{Action: pxe.Address}, nil
}

func (a *asked) Reached(context.Context, pxe.Client, pxe.Stage) {}

// TestScriptSaysWhenLent: the Booter learns when the caller was leased its address: one of an
// earlier boot proves nothing.
func TestScriptSaysWhenLent(t *testing.T) {
	lent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	booter := &asked{}
	h := New(Config{URL: "http://10.77.0.1:8088", Booter: booter, Log: slog.New(slog.DiscardHandler),
		Client: func(at netip.Addr, _ net.HardwareAddr) (pxe.Client, bool) {
			return pxe.Client{MAC: mac(1), IP: at, Lent: lent}, true
		}})
	for path, script := range map[string]bool{pxe.ScriptPath(mac(1)): true, pxe.KernelPath(mac(1)): false} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		if c := booter.client; !c.Lent.Equal(lent) || c.Script != script || c.IP.String() != "192.0.2.1" {
			t.Errorf("%s: asked for %+v", path, c)
		}
	}
}
