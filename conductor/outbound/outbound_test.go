package outbound

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// policy has the addresses of a conductor's host.
func policy(t *testing.T, allow ...string) *Policy {
	t.Helper()
	p, err := New("bmc-allow", allow)
	if err != nil {
		t.Fatal(err)
	}
	p.own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.IPv4(10, 0, 0, 1), Mask: net.CIDRMask(24, 32)},
			&net.IPNet{IP: net.ParseIP("fd00::1"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	return p
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		address string
		allow   []string
		want    string // in the error, "" for none
	}{
		{"10.0.0.2", nil, ""},
		{"192.168.1.1", nil, ""},
		{"fd00::2", nil, ""},
		{"127.0.0.1", nil, "a loopback address"},
		{"127.8.9.1", nil, "a loopback address"},
		{"::1", nil, "a loopback address"},
		{"::ffff:127.0.0.1", nil, "a loopback address"},
		{"0.0.0.0", nil, "an unspecified address"},
		{"0.1.2.3", nil, "an unspecified address"},
		{"::", nil, "an unspecified address"},
		{"169.254.169.254", nil, "a link-local address"},
		{"::ffff:169.254.169.254", nil, "a link-local address"},
		{"fe80::1%eth0", nil, "a link-local address"},
		{"100.100.100.200", nil, "the metadata service of a cloud"},
		{"168.63.129.16", nil, "the metadata service of a cloud"},
		{"::ffff:168.63.129.16", nil, "the metadata service of a cloud"},
		{"fd00:ec2::254", nil, "the metadata service of a cloud"},
		{"fd20:ce::254", nil, "the metadata service of a cloud"},
		{"168.63.129.16", []string{"168.63.129.16"}, ""},
		{"192.0.0.192", nil, "the metadata service of a cloud"},
		{"fd00:42::42", nil, "the metadata service of a cloud"},
		{"169.254.42.42", nil, "a link-local address"},
		{"fd00:c1::a9fe:a9fe", nil, "the metadata service of a cloud"},
		{"64:ff9b::10.0.0.2", nil, ""},
		{"64:ff9b::169.254.169.254", nil, "a link-local address behind a translator, 169.254.169.254"},
		{"64:ff9b::127.0.0.1", nil, "a loopback address behind a translator"},
		{"64:ff9b::100.100.100.200", nil, "the metadata service of a cloud behind a translator"},
		{"64:ff9b::10.0.0.1", nil, "an address of the conductor's own host behind a translator"},
		{"64:ff9b:1::10.0.0.2", nil, ""},
		{"64:ff9b:1::169.254.169.254", nil, "169.254.169.254"},
		{"64:ff9b:1:a9fe:a9:fe00::", nil, "169.254.169.254"},      // a prefix of 48 bits
		{"64:ff9b:1:aaa9:fe:a9fe::", nil, "169.254.169.254"},      // of 56
		{"64:ff9b:1:aaaa:a9:fea9:fe00:0", nil, "169.254.169.254"}, // of 64
		{"2002:a9fe:a9fe::1", nil, "169.254.169.254"},
		{"2002:a00:2::1", nil, ""},
		{"::169.254.169.254", nil, "169.254.169.254"},
		{"::ffff:0:169.254.169.254", nil, "169.254.169.254"},
		{"64:ff9b::169.254.169.254", []string{"64:ff9b::/96"}, ""},
		{"64:ff9b::169.254.0.9", []string{"169.254.0.0/16"}, ""},
		{"224.0.0.1", nil, "a multicast address"},
		{"ff02::1", nil, "a multicast address"},
		{"255.255.255.255", nil, "a broadcast address"},
		{"10.0.0.1", nil, "the conductor's own host"},
		{"::ffff:10.0.0.1", nil, "the conductor's own host"},
		{"fd00::1", nil, "the conductor's own host"},
		{"127.0.0.1", []string{"127.0.0.0/8"}, ""},
		{"127.0.0.1", []string{"10.0.0.0/8", "127.0.0.1"}, ""},
		{"127.0.0.2", []string{"127.0.0.1"}, "--bmc-allow 127.0.0.2/32"},
		{"::ffff:127.0.0.1", []string{"127.0.0.1"}, ""},
		{"10.0.0.1", []string{"10.0.0.1/32"}, ""},
		{"127.0.0.1", []string{"::ffff:127.0.0.0/104"}, ""},
		{"127.0.0.1", []string{"::ffff:127.0.0.1"}, ""},
		{"127.0.0.2", []string{"::ffff:127.0.0.1"}, "a loopback address"},
		{"fe80::1%eth0", []string{"fe80::/10"}, ""},
		{"::1", []string{"0.0.0.0/0"}, "a loopback address"},
	} {
		err := policy(t, c.allow...).Check(netip.MustParseAddr(c.address))
		var refused *Refused
		if (err == nil) != (c.want == "") || err != nil &&
			(!strings.Contains(err.Error(), c.want) || !errors.As(err, &refused) || !refused.Permanent()) {
			t.Errorf("%s with %v: %v, want %q", c.address, c.allow, err, c.want)
		}
	}
}

// TestOnly: a policy with a bound refuses all addresses beyond it, and within it the same addresses as before.
func TestOnly(t *testing.T) {
	p := policy(t, "192.168.1.1", "127.0.0.2")
	if err := p.Only("image-allow", nil); err != nil || p.Check(netip.MustParseAddr("203.0.113.1")) != nil {
		t.Errorf("no bound: %v", err)
	}
	if err := p.Only("image-allow", []string{"10.0.0.0/8", "127.0.0.0/8", "64:ff9b::/96"}); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"10.0.0.2": "", "::ffff:10.0.0.2": "", "192.168.1.1": "", "127.0.0.2": "", "64:ff9b::10.0.0.2": "",
		"192.168.1.2":              "192.168.1.2 is not called, for it is in no network of --image-allow",
		"fd00::2":                  "restart the conductor with --image-allow fd00::2/128",
		"127.0.0.1":                "a loopback address",
		"10.0.0.1":                 "the conductor's own host",
		"64:ff9b::169.254.169.254": "a link-local address behind a translator",
		"2002:a00:2::1":            "in no network of --image-allow",
	} {
		err := p.Check(netip.MustParseAddr(address))
		var refused *Refused
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.As(err, &refused)) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if err := p.Only("image-allow", []string{"all"}); err == nil || !strings.Contains(err.Error(), "--image-allow") {
		t.Errorf("a name for a network: %v", err)
	}
}

func TestNew(t *testing.T) {
	for _, wrong := range []string{"localhost", "10.0.0.0/33", "", "fe80::1%eth0/64", "::ffff:10.0.0.0/90"} {
		if _, err := New("bmc-allow", []string{wrong}); err == nil || !strings.Contains(err.Error(), "--bmc-allow") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// Names are checked by the addresses that they are resolved to, and the listener there gets no request.
func TestDial(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer s.Close()
	t.Setenv("HTTP_PROXY", s.URL) // no way around
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	strict, open := policy(t), policy(t, "127.0.0.0/8", "::1")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		answer, err := strict.Client().Get("http://" + host + ":" + port)
		if err == nil {
			answer.Body.Close()
		}
		var refused *Refused
		if !errors.As(err, &refused) {
			t.Errorf("http to %s: %v", host, err)
		}
		if conn, err := strict.Dialer().Dial("udp", host+":"+port); !errors.As(err, &refused) {
			t.Errorf("udp to %s: %v, %v", host, conn, err)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests came through", asked)
	}
	answer, err := open.Client().Get(s.URL)
	if err != nil || asked != 1 {
		t.Fatalf("allowed: %v, %d requests", err, asked)
	}
	answer.Body.Close()
}
