package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// boot is a boot service of 10.0.0.0/24 that counts its reloads.
type boot struct {
	reloads int
	broken  error
}

func (b *boot) Reservable(subnet string, ip netip.Addr) (string, error) {
	if !netip.MustParsePrefix("10.0.0.0/24").Contains(ip) {
		return subnet, fmt.Errorf("address %v is not served", ip)
	}
	return subnet, nil
}

func (b *boot) Reload(ctx context.Context) error {
	b.reloads++
	return errors.Join(b.broken, ctx.Err())
}

const (
	staticMAC = "52:54:00:00:00:01" // has 10.0.0.11 reserved
	lentMAC   = "52:54:00:00:00:02" // has 10.0.0.12 for an hour
	pastMAC   = "52:54:00:00:00:03" // had 10.0.0.13
	newMAC    = "52:54:00:00:00:04"
)

// withLeases is an API beside boot service b, which may be nil, and three leases.
func withLeases(t *testing.T, b api.Boot) (*conductor, http.Handler) {
	t.Helper()
	c := newConductor(t)
	now := time.Now()
	for _, l := range []node.Lease{
		{MAC: staticMAC, IP: "10.0.0.11", Static: true},
		{MAC: lentMAC, IP: "10.0.0.12", Expires: now.Add(time.Hour)},
		{MAC: pastMAC, IP: "10.0.0.13", Expires: now.Add(-time.Hour)},
	} {
		if err := c.Engine.SaveLease(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	return c, api.New(api.Options{Conductor: c.Engine, Boot: b, Log: slog.New(slog.NewTextHandler(c.Log, nil))})
}

func ask(t *testing.T, h http.Handler, method, path, body string) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return reply{w.Code, w.Header(), w.Body.String()}
}

// held is all leases as "MAC IP", reservations with a star.
func held(t *testing.T, c *conductor) string {
	t.Helper()
	all, err := c.Engine.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%s %s%s\n", l.MAC[15:], l.Where()[7:], map[bool]string{true: "*"}[l.Static])
	}
	return b.String()
}

func TestLeases(t *testing.T) {
	const untouched = "01 11*\n02 12\n03 13\n"
	for name, tc := range map[string]struct {
		method, mac, body string
		status            int
		says              string // in an error
		held              string
	}{
		"reserve":                  {"PUT", newMAC, `{"ip":"10.0.0.50"}`, 200, "", untouched + "04 50*\n"},
		"reserve, spelt otherwise": {"PUT", "52-54-00-00-00-04", `{"ip":"10.0.0.50"}`, 200, "", untouched + "04 50*\n"},
		"reserve again":            {"PUT", staticMAC, `{"ip":"10.0.0.11"}`, 200, "", untouched},
		"reserve another":          {"PUT", staticMAC, `{"ip":"10.0.0.50"}`, 200, "", "01 50*\n02 12\n03 13\n"},
		"reserve what it was lent": {"PUT", lentMAC, `{"ip":"10.0.0.12"}`, 200, "", "01 11*\n02 12*\n03 13\n"},
		"reserve what ran out":     {"PUT", newMAC, `{"ip":"10.0.0.13"}`, 200, "", "01 11*\n02 12\n04 13*\n"},
		"reserved for another":     {"PUT", newMAC, `{"ip":"10.0.0.11"}`, 409, "reserved for " + staticMAC, untouched},
		"lent to another":          {"PUT", newMAC, `{"ip":"10.0.0.12"}`, 409, "lent to " + lentMAC + " until", untouched},
		"of another rack":          {"PUT", newMAC, `{"ip":"10.0.0.11","subnet":"rack-2"}`, 200, "", untouched + "04 11 of subnet rack-2*\n"},
		"a subnet that is a digit": {"PUT", newMAC, `{"ip":"10.0.0.50","subnet":2}`, 400, "Expected string for subnet", untouched},
		"not served": {
			"PUT", newMAC, `{"ip":"192.0.2.1"}`, 400, "address 192.0.2.1 is not served", untouched,
		},
		"no MAC":               {"PUT", "m1", `{"ip":"10.0.0.50"}`, 400, `"m1" is not the MAC`, untouched},
		"a MAC of eight bytes": {"PUT", "52:54:00:00:00:04:00:00", `{"ip":"10.0.0.50"}`, 400, "six bytes", untouched},
		"a MAC of several machines": {"PUT", "ff:ff:ff:ff:ff:ff", `{"ip":"10.0.0.50"}`, 400,
			"not the MAC of a machine", untouched},
		"no address": {"PUT", newMAC, ``, 400, "Missing mandatory parameter: ip", untouched},
		"an address that is a name": {
			"PUT", newMAC, `{"ip":"web-1"}`, 400, `"web-1" of a reservation is not the IPv4`, untouched,
		},
		"an address that is a digit": {"PUT", newMAC, `{"ip":10}`, 400, "Expected string for ip", untouched},
		"IPv6":                       {"PUT", newMAC, `{"ip":"fd00::1"}`, 400, "IPv4", untouched},
		"multicast":                  {"PUT", newMAC, `{"ip":"224.0.0.1"}`, 400, "IPv4", untouched},
		"an unknown key":             {"PUT", newMAC, `{"ip":"10.0.0.50","static":false}`, 400, "static", untouched},
		"no object":                  {"PUT", newMAC, `["10.0.0.50"]`, 400, "not of type 'object'", untouched},
		"delete":                     {"DELETE", staticMAC, "", 204, "", "02 12\n03 13\n"},
		"delete, spelt otherwise":    {"DELETE", "5254.0000.0002", "", 204, "", "01 11*\n03 13\n"},
		"delete an unknown one":      {"DELETE", newMAC, "", 404, "no lease of " + newMAC, untouched},
		"delete no MAC":              {"DELETE", "m1", "", 400, `"m1" is not the MAC`, untouched},
	} {
		t.Run(name, func(t *testing.T) {
			b := &boot{}
			c, h := withLeases(t, b)
			r := ask(t, h, tc.method, "/ferrite/v1/leases/"+tc.mac, tc.body)
			if r.status != tc.status || (tc.says != "" && !strings.Contains(r.text(), tc.says)) {
				t.Errorf("answer %d %s, want %d %q", r.status, r.body, tc.status, tc.says)
			}
			if got := held(t, c); got != tc.held {
				t.Errorf("leases\n%swant\n%s", got, tc.held)
			}
			if done := r.status < 300 || r.status == http.StatusNotFound; (b.reloads == 1) != done || b.reloads > 1 {
				t.Errorf("%d reloads of the boot service after a %d", b.reloads, r.status)
			}
		})
	}
}

// TestLeasesWithoutBoot keeps reservations for the next start, and lists them.
func TestLeasesWithoutBoot(t *testing.T) {
	c, h := withLeases(t, nil)
	if r := ask(t, h, "PUT", "/ferrite/v1/leases/"+newMAC,
		`{"ip":"192.0.2.1"}`); r.body != `{"mac":"52:54:00:00:00:04","ip":"192.0.2.1","static":true}` {
		t.Errorf("reservation: %d %s", r.status, r.body)
	}
	if r := c.must(http.StatusOK, 0, "GET", "/ferrite/v1/leases/", ""); !strings.Contains(r.body,
		`{"leases":[{"mac":"52:54:00:00:00:01","ip":"10.0.0.11","static":true},{"mac":"52:54:00:00:00:02","ip":"10.0.0.12","static":false,"expires":"`) {
		t.Errorf("leases: %s", r.body)
	}
	if r := newConductor(t).must(http.StatusOK, 0, "GET", "/ferrite/v1/leases", ""); r.body != `{"leases":[]}` {
		t.Errorf("no leases: %s", r.body)
	}
}

// TestLeasesNotTakenOver: a boot service that cannot read its leases is our fault.
func TestLeasesNotTakenOver(t *testing.T) {
	c, h := withLeases(t, &boot{broken: errors.New("no disk")})
	for method, path := range map[string]string{"PUT": newMAC, "DELETE": staticMAC} {
		r := ask(t, h, method, "/ferrite/v1/leases/"+path, `{"ip":"10.0.0.50"}`)
		if id := r.header.Get(nodeapi.HeaderRequestID); r.status != http.StatusInternalServerError ||
			!strings.Contains(r.body, id) {
			t.Errorf("%s: %d %s", method, r.status, r.body)
		}
	}
	if !strings.Contains(c.Log.String(), "did not take it over; repeat the request: no disk") {
		t.Errorf("log:\n%s", c.Log)
	}
}

// TestDeletionTakenOverLater: a deletion that the boot service did not take over is
// taken over when it is asked for again, though nothing is on record any more.
func TestDeletionTakenOverLater(t *testing.T) {
	b := &boot{broken: errors.New("no disk")}
	_, h := withLeases(t, b)
	if r := ask(t, h, "DELETE", "/ferrite/v1/leases/"+staticMAC, ""); r.status != http.StatusInternalServerError {
		t.Fatalf("%d %s", r.status, r.body)
	}
	b.broken = nil
	if r := ask(t, h, "DELETE", "/ferrite/v1/leases/"+staticMAC, ""); r.status != http.StatusNotFound ||
		b.reloads != 2 {
		t.Errorf("repeated: %d %s, the boot service was told %d times", r.status, r.body, b.reloads)
	}
}
