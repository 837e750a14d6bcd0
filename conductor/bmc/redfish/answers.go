package redfish

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/outbound/dial"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Bounds of a look at an unknown address.
const (
	answersTimeout = 10 * time.Second
	answersLimit   = 64 << 10
)

// Answers reports whether Redfish is spoken at an address, by its service root (DSP0266, 8.2), which needs no login.
// The certificate is not checked, since nothing is sent: the driver checks it before it logs in.
func Answers(ctx context.Context, dialer dial.Dialer, at netip.Addr) bool {
	return answersAt(ctx, dialer, netip.AddrPortFrom(at, httpsPort))
}

const httpsPort = 443

func answersAt(ctx context.Context, dialer dial.Dialer, at netip.AddrPort) bool {
	ctx, cancel := context.WithTimeout(ctx, answersTimeout)
	defer cancel()
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10,
			CipherSuites: tlspolicy.Suites()}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport,
		// An unknown machine has named the address, and is not to lead to others.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirected") }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+at.String()+"/redfish/v1/", nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() // read as far as it is of interest
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answersLimit))
	return err == nil && resp.StatusCode == http.StatusOK && isServiceRoot(raw)
}

// isServiceRoot looks for either of the two properties that every service root must have and nothing else has.
func isServiceRoot(raw []byte) bool {
	var root map[string]any
	if nodeapi.DecodePeer(raw, maxValues, &root) != nil {
		return false
	}
	kind, _ := root["@odata.type"].(string)
	version, _ := root["RedfishVersion"].(string)
	return version != "" || strings.HasPrefix(kind, "#ServiceRoot.")
}
