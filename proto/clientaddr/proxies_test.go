package clientaddr

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"
)

// trusted are the proxies of the tests: two of a network, and one of IPv6.
var trusted = Proxies{netip.MustParsePrefix("10.0.0.0/30"), netip.MustParsePrefix("2001:db8:ffff::1/128")}

// TestRequest: the right-most address that is no proxy's is the client, and only proxies name clients. Headers are
// lines that begin with F (Forwarded), X (X-Forwarded-For) or P (X-Forwarded-Proto).
func TestRequest(t *testing.T) {
	const proxy, differ = "10.0.0.1:1", "have the proxy remove"
	for _, tc := range []struct{ from, headers, want string }{ // want: the client and its scheme, or part of the error
		{"192.0.2.9:1", "F for=198.51.100.1;proto=https\nX 198.51.100.1\nP https", "192.0.2.9 http"},
		{"10.0.0.4:1", "X 198.51.100.1", "10.0.0.4 http"},
		{proxy, "", "10.0.0.1 http"},
		{proxy, "X 198.51.100.1", "198.51.100.1 http"},
		{"[::ffff:10.0.0.1]:1", "X ::ffff:198.51.100.1", "198.51.100.1 http"},
		{proxy, "X 198.51.100.1:5000", "198.51.100.1 http"},
		{proxy, "X 2001:db8::7", "2001:db8::7 http"},
		{proxy, "X [2001:db8::7]:80", "2001:db8::7 http"},
		{proxy, "X 127.0.0.1, 198.51.100.1", "198.51.100.1 http"},
		{proxy, "X 127.0.0.1\nX 198.51.100.1", "198.51.100.1 http"},
		{proxy, "X 192.0.2.8, 198.51.100.1, 10.0.0.2", "198.51.100.1 http"},
		{proxy, "X 10.0.0.3, 10.0.0.2", "10.0.0.3 http"},
		{proxy, "X 198.51.100.1, ../../etc", "10.0.0.1 http"},
		{proxy, "X 198.51.100.1, unknown, 10.0.0.2", "10.0.0.2 http"},
		{proxy, "X fe80::1%eth0", "10.0.0.1 http"},
		{proxy, "X 198.51.100.1\nP HTTPS", "198.51.100.1 https"},
		{proxy, "X 198.51.100.1\nP https, http", "198.51.100.1 http"},
		{proxy, "P https", "10.0.0.1 https"},
		{proxy, "F for=198.51.100.1;proto=https;by=10.0.0.1", "198.51.100.1 https"},
		{proxy, `F For="[2001:db8:cafe::17]:4711"`, "2001:db8:cafe::17 http"},
		{proxy, `F for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown`, "10.0.0.1 http"},
		{proxy, "F for=_hidden, for=_SEVKISEK", "10.0.0.1 http"},
		{proxy, `F for="198.51.100.1:_p"`, "198.51.100.1 http"},
		{"[2001:db8:ffff::1]:1", "F for=2001:db8::7", "2001:db8::7 http"},
		{proxy, "F for=127.0.0.1, for=198.51.100.1", "198.51.100.1 http"},
		{proxy, "F for=198.51.100.1;proto=https\nF for=10.0.0.2;proto=http", "198.51.100.1 https"},
		{proxy, "F for=198.51.100.1, ,", "198.51.100.1 http"},
		{proxy, `F for="198.51.\100.1"`, "198.51.100.1 http"},
		{proxy, "F for=\"\nF for=198.51.100.1", "not of RFC 7239"},
		{proxy, `F for=192.0.2.8;x=", for="198.51.100.1"`, "not of RFC 7239"},
		{proxy, "F for=192.0.2.8;for=198.51.100.1", "twice"},
		{proxy, "F 198.51.100.1", "not of RFC 7239"},
		{proxy, "F for=198.51.100.1\nX 198.51.100.1\nP https", "198.51.100.1 https"},
		{proxy, "F for=127.0.0.1\nX 198.51.100.1", "Forwarded (127.0.0.1) and X-Forwarded-For (198.51.100.1)"},
		{proxy, "F for=198.51.100.1\nX 127.0.0.1", differ},
		{proxy, "F for=unknown\nX 198.51.100.1", differ},
		{proxy, "F " + strings.Repeat("for=_a,", 127) + "for=198.51.100.1", "198.51.100.1 http"},
		{proxy, "F " + strings.Repeat(",", 60<<10) + "for=198.51.100.1", "Forwarded has 61456 bytes in 61441 parts"},
		{proxy, "F " + strings.Repeat("a=b;c=d,", 100) + "for=198.51.100.1", "at most 4096 in 128"},
		{proxy, "X 127.0.0.1\nX " + strings.Repeat("1", 4<<10), "have the proxy replace"},
		{"192.0.2.9:1", "X " + strings.Repeat("1", 5<<10), "192.0.2.9 http"},
	} {
		r := &http.Request{RemoteAddr: tc.from, Header: http.Header{}}
		for line := range strings.Lines(tc.headers) {
			name := map[byte]string{'F': "Forwarded", 'X': "X-Forwarded-For", 'P': "X-Forwarded-Proto"}[line[0]]
			r.Header.Add(name, strings.TrimSpace(line[1:]))
		}
		for _, secure := range []bool{false, true} { // the proxy's own connection
			want := tc.want
			if r.TLS = nil; secure {
				r.TLS = &tls.ConnectionState{}
				if !strings.Contains(strings.ToLower(tc.headers), "http") || tc.from == "192.0.2.9:1" {
					want = strings.Replace(want, " http", " https", 1)
				}
			}
			got, err := trusted.Request(r)
			is := Of(got).String() + map[bool]string{true: " https", false: " http"}[got.TLS != nil]
			if err != nil {
				is = err.Error()
			}
			if !strings.Contains(is, want) || err == nil && is != want || r.RemoteAddr != tc.from || secure != (r.TLS != nil) {
				t.Errorf("%s with %q: %s, want %s; the request that came is of %s", tc.from, tc.headers, is, want, r.RemoteAddr)
			}
		}
	}
}

// v2 is a header of version 2 with bytes of its own choice after the signature.
func v2(bytes string) string { return string(proxyproto.SIGV2) + bytes }

// headers are the seeds of FuzzConnection, too. want is an address and port, "" for none, or part of an error.
var headers = map[string]struct{ header, want string }{
	"none":              {"", ""},
	"v1":                {"PROXY TCP4 198.51.100.1 10.0.0.1 5000 6385\r\n", "198.51.100.1:5000"},
	"v1 of IPv6":        {"PROXY TCP6 2001:db8::7 2001:db8::1 5000 6385\r\n", "[2001:db8::7]:5000"},
	"v1 unknown":        {"PROXY UNKNOWN\r\n", ""},
	"v1 unknown, long":  {"PROXY UNKNOWN 198.51.100.1 10.0.0.1 5000 6385\r\n", ""},
	"v1 cut off":        {"PROXY TCP4 198.51.100.1", "can't read"},
	"v1 without end":    {"PROXY TCP4 " + strings.Repeat("1", 200), "107"},
	"v1 of a name":      {"PROXY TCP4 localhost 10.0.0.1 5000 6385\r\n", "invalid address"},
	"v1 of port 65536":  {"PROXY TCP4 198.51.100.1 10.0.0.1 65536 6385\r\n", "invalid port"},
	"v1 mixed families": {"PROXY TCP4 2001:db8::7 10.0.0.1 5000 6385\r\n", "invalid address"},
	"v2":                {v2("\x21\x11\x00\x0c\xc6\x33\x64\x01\x0a\x00\x00\x01\x13\x88\x18\xf1"), "198.51.100.1:5000"},
	"v2 with a TLV":     {v2("\x21\x11\x00\x13\xc6\x33\x64\x01\x0a\x00\x00\x01\x13\x88\x18\xf1\x04\x00\x04\x00\x00\x00\x00"), "198.51.100.1:5000"},
	"v2 of IPv6": {v2("\x21\x21\x00\x24\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x07" +
		strings.Repeat("\x00", 16) + "\x13\x88\x18\xf1"), "[2001:db8::7]:5000"},
	"v2 local": {v2("\x20\x00\x00\x00"), ""},
	"v2 local with addresses": {v2("\x20\x11\x00\x0c\xc6\x33\x64\x01\x0a\x00\x00\x01\x13\x88\x18\xf1"),
		""},
	"v2 of UNIX":          {v2("\x21\x31\x00\xd8" + strings.Repeat("\x00", 216)), ""},
	"v2 of UDP":           {v2("\x21\x12\x00\x0c\xc6\x33\x64\x01\x0a\x00\x00\x01\x13\x88\x18\xf1"), ""},
	"v2 of no family":     {v2("\x21\x00\x00\x00"), "unsupported address family"},
	"v2 too short":        {v2("\x21\x11\x00\x04\xc6\x33\x64\x01"), "invalid length"},
	"v2 cut off":          {v2("\x21\x11\x00\x0c\xc6\x33"), "EOF"},
	"v2 of 65535 bytes":   {v2("\x21\x11\xff\xff\xc6\x33"), "invalid length"},
	"v2 of version 3":     {v2("\x31\x11\x00\x0c"), "unsupported proxy protocol version"},
	"v2 without a length": {v2("\x21\x11"), "can't read length"},
}

// TestConnection: exactly the header is removed, and without a header nothing is.
func TestConnection(t *testing.T) {
	for name, tc := range headers {
		for _, after := range []string{"GET / HTTP/1.1\r\n", "PUT / HTTP/1.1\r\n", "\x16\x03\x01\x02\x00", "\r\n\r\n", ""} {
			if strings.Contains(name, "cut off") || strings.Contains(name, "without") || strings.Contains(name, "65535") {
				after = ""
			}
			r := bufio.NewReaderSize(strings.NewReader(tc.header+after), 256)
			at, header, err := trusted.Connection(r)
			got := ""
			if header == (tc.header == "") {
				t.Errorf("%s: has a header: %t", name, header)
			}
			switch {
			case err != nil:
				got = err.Error()
			case at.IsValid():
				got = at.String()
			}
			if !strings.Contains(got, tc.want) || err == nil && got != tc.want {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
			if rest, _ := io.ReadAll(r); err == nil && string(rest) != after {
				t.Errorf("%s: %q is left of %q", name, rest, after)
			}
		}
	}
}

// FuzzConnection: no header yields an address from nothing, and input without a header stays as it is.
func FuzzConnection(f *testing.F) {
	for _, tc := range headers {
		f.Add([]byte(tc.header + "GET / HTTP/1.1\r\n"))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(sent), 256)
		at, said, err := trusted.Connection(r)
		rest, _ := io.ReadAll(r)
		header := bytes.HasPrefix(sent, proxyproto.SIGV1) || bytes.HasPrefix(sent, proxyproto.SIGV2)
		switch {
		case !bytes.HasSuffix(sent, rest):
			t.Errorf("%q is left of %q", rest, sent)
		case at.IsValid() && (err != nil || !header || at.Addr().Is4In6() || at.Addr().Zone() != ""):
			t.Errorf("%q names %v, %v", sent, at, err)
		case said != header:
			t.Errorf("%q has a header: %t", sent, said)
		case !header && (err != nil || len(rest) != len(sent)):
			t.Errorf("%q is no header: %v, %q is left", sent, err, rest)
		}
	})
}

// FuzzRequest: no input of a client changes the client's address once the proxy has added its own headers.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{"", "for=127.0.0.1", `for="[::1]:80";proto=https;by=x, `, `for="`, `a="\`,
		"a=b;", ",;,", `x="a,`} {
		f.Add(s, "127.0.0.1, unknown")
	}
	f.Fuzz(func(t *testing.T, forwarded, x string) {
		for _, h := range []http.Header{
			{"Forwarded": {forwarded + ", for=198.51.100.1"}}, {"Forwarded": {forwarded, "for=198.51.100.1"}},
			{"Forwarded": {forwarded + `, for="[2001:db8::7]"`}}, {"Forwarded": {forwarded + `, for="198.51.100.1:5000"`}},
			{"X-Forwarded-For": {x + ", 198.51.100.1"}}, {"X-Forwarded-For": {x, "198.51.100.1"}},
			{"Forwarded": {forwarded}, "X-Forwarded-For": {x, "198.51.100.1"}},
		} {
			got, err := trusted.Request(&http.Request{RemoteAddr: "10.0.0.1:1", Header: h})
			if a := Of(got).String(); err == nil && a != "198.51.100.1" && a != "2001:db8::7" {
				t.Errorf("%q: the client is %s", h, a)
			}
		}
	})
}
