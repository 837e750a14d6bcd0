package doctor

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// oneSilent is a driver with one BMC that does not answer.
type oneSilent struct{}

func (oneSilent) Validate(node.Node) error { return nil }
func (oneSilent) PowerState(_ context.Context, n node.Node) (node.PowerState, error) {
	if n.Name == "silent" {
		return "", errors.New("no answer")
	}
	return node.PowerOn, nil
}

// withNodes makes a data folder with two nodes.
func withNodes(t *testing.T) datafolder.Folder {
	t.Helper()
	d := datafolder.Folder{Dir: t.TempDir()}
	db, err := d.Open(t.Context(), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	for uuid, name := range map[string]string{"11111111-2222-4333-8444-555555555555": "silent",
		"21111111-2222-4333-8444-555555555555": "n2"} {
		if _, err := db.Commit(t.Context(), node.Change{Insert: &node.Node{UUID: uuid, Name: name, Driver: "redfish",
			ProvisionState: node.Enroll, DriverInfo: map[string]any{"redfish_address": "http://" + name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(d.Closing(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLook: each fault of a host is found under its check, with the remedy.
func TestLook(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // bound at once
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ended := false
	h := Host{Folder: withNodes(t), APIAddress: taken.Addr().String(), Now: time.Now,
		Boot: &Boot{Interface: "lo", LoaderDir: t.TempDir(), Address: func() (netip.Addr, netip.Prefix, error) {
			return netip.Addr{}, netip.Prefix{}, errors.New("lo has two addresses")
		}},
		BMCs: func() (BMCs, error) {
			return BMCs{Drivers: map[string]BMC{"redfish": oneSilent{}}, Close: func() error { ended = true; return nil }}, nil
		}}
	said := map[string]string{}
	for _, f := range h.Look(t.Context()) {
		said[f.Check] += f.Grade + " " + f.Found + "; "
		if f.Grade == GradeBad && f.Try == "" {
			t.Errorf("nothing is said of what to do about %+v", f)
		}
	}
	for check, want := range map[string]string{"data folder": "ok database and keys are in", "disk": "GB free",
		"ports": "is in use", "API": "warn no conductor runs", "interface": "bad lo has two addresses",
		"ramdisk": "bad no ramdisk is configured", "BMCs": "answer: 1 of 2; not:\nsilent (http://silent): no answer"} {
		if !strings.Contains(said[check], want) {
			t.Errorf("%s: %q, expected %q", check, said[check], want)
		}
	}
	if !ended {
		t.Error("the sessions of BMCs were not ended")
	}
}

// TestCertificateEnds: a certificate is warned of before it ends.
func TestCertificateEnds(t *testing.T) {
	dir := t.TempDir()
	chain, key := certtest.New(t).Server("127.0.0.1")
	h := Host{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
	for path, text := range map[string][]byte{h.TLSCert: chain, h.TLSKey: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[time.Duration]string{-100 * 365 * 24 * time.Hour: "bad", 0: "ok warn",
		100 * 365 * 24 * time.Hour: "bad"} {
		h.Now = func() time.Time { return time.Now().Add(after) }
		if all := lookAtCertificate(t.Context(), h); len(all) != 1 || !strings.Contains(want, all[0].Grade) {
			t.Errorf("after %s: %v, expected %s", after, all, want)
		}
	}
}

// TestConductorsClock: a conductor that was started with a wrong clock, corrected since, is reported. So is a member of
// a cluster with a clock that differs from the database's.
func TestConductorsClock(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for at, want := range map[string]string{"2026-11-28T11:59:30Z": "", "": "", "2026-11-20T12:00:00Z": "192h0m0s from",
		"2026-11-28T13:00:00Z": "-1h0m0s from"} {
		for _, header := range []string{nodeapi.HeaderClock, nodeapi.HeaderDatabaseClock} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(header, at)
			}))
			all := lookAtAPI(t.Context(), Host{Running: true, APIURL: s.URL, Now: func() time.Time { return now }})
			s.Close()
			last := all[len(all)-1]
			if (want == "") != (len(all) == 1) || !strings.Contains(last.Found, want) ||
				want != "" && !strings.Contains(last.Try, "restart") {
				t.Errorf("%s at %q: %+v, want %q", header, at, all, want)
			}
		}
	}
}
