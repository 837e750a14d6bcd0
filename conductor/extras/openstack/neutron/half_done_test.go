package neutron_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// flaky has one PUT fail: the nth, counted from 1.
type flaky struct {
	nth, puts int
	how       func(send func() (*http.Response, error)) (*http.Response, error)
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		f.puts++
		if f.puts == f.nth {
			return f.how(func() (*http.Response, error) { return http.DefaultTransport.RoundTrip(r) })
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Ways in which a request fails: Neutron has not got it; has done it, and its answer is lost; refuses it.
func unsent(func() (*http.Response, error)) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

func unanswered(send func() (*http.Response, error)) (*http.Response, error) {
	if resp, err := send(); err == nil {
		_ = resp.Body.Close()
	}
	return nil, errors.New("connection reset")
}

func denied(func() (*http.Response, error)) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusConflict, Body: io.NopCloser(bytes.NewReader([]byte("{}"))),
		Header: http.Header{}}, nil
}

func (f *flaky) client(t *testing.T, url string) *neutron.Client {
	t.Helper()
	service, err := neutron.At(url, f)
	if err != nil {
		t.Fatal(err)
	}
	return neutron.New(neutron.Config{Service: service})
}

// TestReaddressFails: a VIF in use stays bound, and the same whichever request fails. A next try brings the address to
// its end, and binds a VIF that is not bound though it should be.
func TestReaddressFails(t *testing.T) {
	const other = "52:54:00:00:00:09"
	ways := map[string]func(func() (*http.Response, error)) (*http.Response, error){"unsent": unsent,
		"unanswered": unanswered, "denied": denied}
	for name, how := range ways {
		for nth := 1; nth <= 3; nth++ { // unbind, address, bind
			s := newServer(t)
			c := cloud{t, s.URL}
			ports := []node.Port{{UUID: "p1", Address: mac, LocalLinkConnection: object{"port_id": "e1"}}}
			vif := c.vif(c.network("tenant"))
			ports[0].SetVIF(vif)
			n := node.Node{UUID: nodeUUID, ProvisionState: node.Active}
			good := client(t, s.URL, nil)
			if err := good.Plug(t.Context(), n, vif, ports, nil); err != nil {
				t.Fatal(err)
			}
			before := c.port(vif)
			ports[0].Address = other
			bad := (&flaky{nth: nth, how: how}).client(t, s.URL)
			if err := bad.Readdress(t.Context(), n, vif, ports, nil); err == nil {
				t.Errorf("%s, request %d: no error", name, nth)
			}
			lastDone := name == "unanswered" && nth == 3 // bound, and Neutron changes no address of it
			if is := c.port(vif); is["binding:host_id"] != nodeUUID || (is["mac_address"] != before["mac_address"]) != lastDone {
				t.Errorf("%s, request %d: the VIF is %v", name, nth, is)
			}
			if err := good.Readdress(t.Context(), n, vif, ports, nil); err != nil || c.port(vif)["mac_address"] != other ||
				c.port(vif)["binding:host_id"] != nodeUUID {
				t.Errorf("%s, request %d, again: %v, %v", name, nth, c.port(vif), err)
			}
			for _, was := range []string{mac, other} { // left by a conductor that died
				if _, err := good.Attach(t.Context(), n, plan.NoNetwork, ports, nil); err != nil {
					t.Fatal(err)
				}
				c.do(http.MethodPut, "ports/"+vif, object{"port": object{"mac_address": was}})
				if err := good.Readdress(t.Context(), n, vif, ports, nil); err != nil ||
					c.port(vif)["binding:host_id"] != nodeUUID || c.port(vif)["mac_address"] != other {
					t.Errorf("unbound, with address %s: %v, %v", was, c.port(vif), err)
				}
			}
		}
	}
}

// TestPlugFails: a VIF is unbound from the machine if its binding was not answered. A VIF at another machine stays
// there.
func TestPlugFails(t *testing.T) {
	const elsewhere = "22222222-2222-4333-8444-555555555555"
	for name, tc := range map[string]struct {
		how   func(func() (*http.Response, error)) (*http.Response, error)
		host  string // of before
		after string
	}{
		"unanswered":            {unanswered, "", ""},
		"denied, at another":    {denied, elsewhere, elsewhere},
		"unanswered, elsewhere": {unsent, elsewhere, elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			c := cloud{t, s.URL}
			vif := c.vif(c.network("tenant"))
			c.do(http.MethodPut, "ports/"+vif, object{"port": object{"binding:host_id": tc.host}})
			ports := []node.Port{{UUID: "p1", Address: mac, LocalLinkConnection: object{"port_id": "e1"}}}
			ports[0].SetVIF(vif)
			is := (&flaky{nth: 1, how: tc.how}).client(t, s.URL)
			n := node.Node{UUID: nodeUUID, ProvisionState: node.Active}
			if err := is.Plug(t.Context(), n, vif, ports, nil); err == nil || c.port(vif)["binding:host_id"] != tc.after {
				t.Errorf("%v, %v", err, c.port(vif))
			}
		})
	}
}

// unread does each request, and gives no whole answer to those that change something.
type unread struct{}

func (unread) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.Method != http.MethodGet && resp.StatusCode != http.StatusNoContent {
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(`{"port": {"id": "`))
	}
	return resp, err
}

// TestUnread: a change that Neutron has made is not asked for again because its answer could not be read: the drivers
// of switches would be at work twice.
func TestUnread(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	c.network("one")
	service, err := neutron.At(s.URL, unread{})
	if err != nil {
		t.Fatal(err)
	}
	is := neutron.New(neutron.Config{Service: service, Networks: map[string]string{"cleaning": "one"}})
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	ports[0].SetVIF(c.vif(c.network("tenant")))
	for _, step := range []struct {
		to   string
		want string
	}{
		{"cleaning", "[POST ports]"},
		{plan.TenantNetwork, "[DELETE ports PUT ports]"},
		{plan.NoNetwork, "[PUT ports PUT ports]"}, // unbound, then with an address of its own
	} {
		before := len(s.Requests())
		for try := 1; ; try++ {
			if _, err = is.Attach(t.Context(), node.Node{UUID: nodeUUID}, step.to, ports, nil); err == nil || try == 4 {
				break
			}
		}
		reads := func(r neutrontest.Request) bool { return r.Method == http.MethodGet }
		did := slices.DeleteFunc(s.Requests()[before:], reads)
		if fmt.Sprint(did) != step.want || err != nil {
			t.Errorf("into %s: %v, expected %s; %v", step.to, did, step.want, err)
		}
	}
}
