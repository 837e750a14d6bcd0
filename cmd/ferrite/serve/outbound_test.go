package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOutbound: a node's BMC cannot be on this host, under any name of it, and listeners there get no data.
func TestOutbound(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer srv.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	c := startFor(t, &conductor{Far: true}, filepath.Join(t.TempDir(), "data"))
	defer c.End(t)
	for i, info := range []map[string]any{
		{"redfish_address": srv.URL}, {"redfish_address": "http://localhost:" + port},
		{"redfish_address": "http://[::ffff:127.0.0.1]:" + port},
		{"ipmi_address": "127.0.0.1", "ipmi_port": udp.LocalAddr().(*net.UDPAddr).Port},
	} {
		driver, name := "redfish", fmt.Sprint("n", i)
		if info["ipmi_address"] != nil {
			driver = "ipmi"
		}
		c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": driver, "name": name, "driver_info": info}, 201)
		c.Call(t, "PUT", "/v1/nodes/"+name+"/states/provision", map[string]any{"target": "manage"}, 202)
		if n := c.Until(t, name, "enroll"); !strings.Contains(fmt.Sprint(n["last_error"]),
			"is not called, for it is a loopback address") {
			t.Errorf("%v: last_error %v", info, n["last_error"])
		}
	}
	if err := udp.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil { // read at once if it came
		t.Fatal(err)
	}
	if n, _, err := udp.ReadFrom(make([]byte, 100)); err == nil || asked != 0 {
		t.Errorf("%d requests and a datagram of %d bytes came", asked, n)
	}
}

// TestImageAllow: image servers and registries are called in the networks of --image-allow alone, and where
// --registry-allow says so; BMCs and agents are not bound by it.
func TestImageAllow(t *testing.T) {
	c := &Config{ImageAllow: []string{"203.0.113.0/24"}, RegistryAllow: []string{"198.51.100.1"}}
	dialled, err := c.outbound()
	if err != nil {
		t.Fatal(err)
	}
	for address, called := range map[string]bool{"203.0.113.9": true, "198.51.100.1": true, "192.0.2.1": false,
		"127.0.0.1": false} {
		if err := dialled.registries.Check(netip.MustParseAddr(address)); (err == nil) != called {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := dialled.bmcs.Check(netip.MustParseAddr("192.0.2.1")); err != nil {
		t.Errorf("a BMC: %v", err)
	}
}
