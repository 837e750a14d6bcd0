package contact

import (
	"crypto/sha256"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// forward is a proxy that notes the hosts it is used for.
func forward(t *testing.T) (at string, hosts *[]string) {
	t.Helper()
	hosts = &[]string{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*hosts = append(*hosts, r.Method+" "+r.Host)
		if r.Method != http.MethodConnect {
			_, _ = io.WriteString(w, "by proxy")
			return
		}
		there, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(there, here) }()
		_, _ = io.Copy(here, there)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, hosts
}

// TestProxies: an image is fetched through the proxy of its node, but for the hosts of no_proxy and the conductor's. A
// certificate is checked through the proxy as without.
func TestProxies(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "direct")
	}))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(plain.Config.Handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of the certificates that are refused
	secure.StartTLS()
	defer secure.Close()
	pin := sha256.Sum256(secure.Certificate().Raw)
	named := strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		options Options
		url, no string
		want    string // the body, or a part of the error
		used    bool
	}{
		"http":             {Options{}, plain.URL, "", "by proxy", true},
		"no_proxy":         {Options{}, plain.URL, "example.org, 127.0.0.0/8", "direct", false},
		"conductor":        {Options{URLs: []string{"http://127.0.0.1:1"}}, plain.URL, "", "direct", false},
		"https, unknown":   {Options{}, named, "", "x509: certificate", true},
		"https, wrong pin": {Options{Pins: [][]byte{{1}}}, named, "", "certificate", true},
		"https, pinned":    {Options{Pins: [][]byte{pin[:]}}, named, "", "direct", true},
		"https, address":   {Options{Pins: [][]byte{pin[:]}}, secure.URL, "", "use its host name", true},
		"https, insecure":  {Options{Insecure: true}, secure.URL, "", "direct", true},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, hosts := forward(t)
			ctx, err := WithProxies(t.Context(), agentapi.ImageInfo{NoProxy: c.no,
				Proxies: map[string]string{"http": strings.TrimPrefix(proxy, "http://"), "https": proxy}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			client, got := imageClient(c.options), ""
			if resp, err := client.Do(r); err != nil {
				got = err.Error()
			} else {
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				got = string(body)
				_ = resp.Body.Close()
			}
			client.CloseIdleConnections()
			if !strings.Contains(got, c.want) || c.used != (len(*hosts) > 0) {
				t.Errorf("got %q by %v, want %q, proxy used %t", got, *hosts, c.want, c.used)
			}
		})
	}
}

// TestReachesDirectly walks the forms of an entry of no_proxy.
func TestReachesDirectly(t *testing.T) {
	for _, c := range []struct {
		entry, url string
		want       bool
	}{
		{"*", "http://a.example", true},
		{"a.example", "http://A.example", true},
		{"a.example", "http://b.a.example", true},
		{"a.example", "http://ba.example", false},
		{".example", "https://a.example", true},
		{"a.example:8080", "http://a.example:8080", true},
		{"a.example:8080", "http://a.example", false},
		{"a.example:443", "https://a.example", true},
		{"192.0.2.0/24", "http://192.0.2.9:1", true},
		{"192.0.2.1", "http://192.0.2.11", false},
		{"2001:db8::1", "http://[2001:db8:0::1]:80", true},
		{"[2001:db8::1]:80", "http://[2001:db8::1]", true},
		{"192.0.2.0/24", "http://a.example", false},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachesDirectly(c.entry, u); got != c.want {
			t.Errorf("%q for %s: got %t", c.entry, c.url, got)
		}
	}
	wrong := agentapi.ImageInfo{Proxies: map[string]string{"http": "ftp://x:secret@y"}}
	if _, err := WithProxies(t.Context(), wrong); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a proxy of another scheme: %v", err)
	}
}
