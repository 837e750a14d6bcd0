package redfish

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func boot(t *testing.T, b *bench) map[string]any {
	t.Helper()
	values, _ := b.Read(t, systemPath)["Boot"].(map[string]any)
	return values
}

func listed(t *testing.T, b *bench, property, value string, want bool) {
	t.Helper()
	all, _ := boot(t, b)[property+"@Redfish.AllowableValues"].([]any)
	if got := slices.Contains(all, any(value)); got != want {
		t.Errorf("%s of %s: listed %v in %v", value, property, got, all)
	}
}

func tagOf(t *testing.T, b *bench) string {
	t.Helper()
	response, _ := b.Call(t, get, systemPath, "")
	return response.Header.Get("ETag")
}

func ifMatch(t *testing.T, b *bench, tag string, want int) {
	t.Helper()
	if response, body := b.Call(t, patch, systemPath, oncePXE, "If-Match", tag); response.StatusCode != want {
		t.Errorf("If-Match: %s is answered %s %s, expected %d", tag, response.Status, body, want)
	}
}

func inserting(t *testing.T, b *bench, more string, want int) {
	t.Helper()
	b.Send(t, post, mediaPath+insertAction, `{"Image": "`+serveImage(t)+`", `+more+`}`, want)
}

// cutAnswers is 1 for an answer that ends too early.
func cutAnswers(t *testing.T, b *bench) int {
	t.Helper()
	response, err := http.Get(b.URL + rootPath)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		return 1
	}
	return 0
}

// legacyHandshakes talks TLS to the controller as old and new clients do.
func legacyHandshakes(t *testing.T, b *bench) {
	t.Helper()
	conf, err := b.config.Personality.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(b.Server)
	server.Listener, server.Config.ErrorLog = tls.NewListener(server.Listener, conf), log.New(io.Discard, "", 0)
	server.Start() // StartTLS reads the certificate
	defer server.Close()
	rsaOnly := []uint16{tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	for name, c := range map[string]struct {
		conf *tls.Config
		want string
	}{
		"modern":  {&tls.Config{}, "handshake failure"},
		"TLS 1.3": {&tls.Config{MinVersion: tls.VersionTLS13}, "protocol version"},
		"RSA":     {&tls.Config{CipherSuites: rsaOnly, MaxVersion: tls.VersionTLS12}, "negative serial number"},
		"1.0": {&tls.Config{CipherSuites: rsaOnly, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10},
			"negative serial number"},
	} {
		c.conf.InsecureSkipVerify = true
		connection, err := tls.Dial("tcp", server.Listener.Addr().String(), c.conf)
		if err == nil {
			err = errors.Join(errors.New("a handshake"), connection.Close())
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %s", name, err, c.want)
		}
	}
}

// serveImage serves an image of a CD.
func serveImage(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/a.iso"
}
