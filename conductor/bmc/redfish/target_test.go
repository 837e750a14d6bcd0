package redfish_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/cacert"
)

func TestValidate(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "text"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := redfish.New(redfish.Options{CAs: cacert.Folder(folder)})
	for _, c := range []struct {
		key  string
		v    any
		want string // in the error; "" for none
	}{
		{"redfish_address", "10.0.0.1", ""},
		{"redfish_address", "bmc.example:8443/redfish/v1", ""},
		{"redfish_address", "[fd00::1]:443", ""},
		{"redfish_address", "http://[fd00::1]", ""},
		{"redfish_address", nil, "redfish_address is missing"},
		{"redfish_address", "", "redfish_address is missing"},
		{"redfish_address", 5.0, "redfish_address must be a string, not float64"},
		{"redfish_address", "ftp://h", "must be a URL"},
		{"redfish_address", "https://", "must be a URL"},
		{"redfish_address", "https://admin:secret@h", "must not hold credentials"},
		{"redfish_address", "https://h\x00secret", "must be a URL"},
		{"redfish_address", "https://h/?q", "remove the rest"},
		{"redfish_root_prefix", "/redfish/v1", ""},
		{"redfish_root_prefix", "/bmc7/redfish/v1/", ""},
		{"redfish_root_prefix", "redfish/v1", "must be the path of the service root"},
		{"redfish_root_prefix", 1.0, "must be a string, not float64"},
		{"redfish_tls_minimum_version", "1.0", "must be one of 1.1, 1.2, 1.3"},
		{"redfish_tls_ciphers", "none", `has "none", which is not known`},
		{"firmware_update_unresponsive_bmc_wait", "soon", "must be a whole number"},
		{"redfish_system_id", "/redfish/v1/Systems/1", ""},
		{"redfish_system_id", "1", "must be a path such as"},
		{"redfish_username", "admin", ""},
		{"redfish_username", true, "must be a string, not bool"},
		{"redfish_password", 12345.0, "must be a string, not float64"},
		{"redfish_auth_type", "session", ""},
		{"redfish_auth_type", "digest", `must be auto, basic or session, not "digest"`},
		{"redfish_verify_ca", false, ""},
		{"redfish_verify_ca", "False", ""},
		{"redfish_verify_ca", "1", ""},
		{"redfish_verify_ca", folder + "/text", "holds no PEM certificate"},
		{"redfish_verify_ca", folder + "/none", cacert.ErrNotOpen.Error()},
		{"redfish_verify_ca", "/etc/passwd", cacert.ErrNotOpen.Error()},
		{"redfish_verify_ca", "/no/such/file", cacert.ErrNotOpen.Error()},
		{"redfish_verify_ca", "/dev/zero", cacert.ErrNotOpen.Error()},
		{"redfish_verify_ca", "", "must be true, false, PEM text"},
		{"redfish_verify_ca", 7.0, "the path of a file in --ca-folder, not float64"},
	} {
		n := node.Node{DriverInfo: map[string]any{"redfish_address": "https://h"}}
		n.DriverInfo[c.key] = c.v
		err := d.Validate(n)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s = %v: %v", c.key, c.v, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !permanent(err) ||
			strings.Contains(err.Error(), "secret")):
			t.Errorf("%s = %v: got %v, want %s", c.key, c.v, err, c.want)
		}
	}
}

// TestRootPrefix: the service root is where redfish_root_prefix or the address says; two places are refused.
func TestRootPrefix(t *testing.T) {
	b := newBoard(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimRight(r.URL.Path, "/") == "/redfish/v1" {
			http.NotFound(w, r) // the service root alone is elsewhere
			return
		}
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/bmc7")
		b.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	b.url = web.URL
	d := newDriver(t, redfish.Options{})
	for _, c := range []struct {
		path, prefix, want string
	}{
		{"", "/redfish/v1", "404"},
		{"", "/bmc7/redfish/v1", ""},
		{"/bmc7/redfish/v1/", "/bmc7/redfish/v1", ""},
		{"/bmc8/redfish/v1/", "/bmc7/redfish/v1", "but redfish_address ends with /bmc8/redfish/v1/"},
	} {
		_, err := d.PowerState(t.Context(), b.node("redfish_address", web.URL+c.path, "redfish_root_prefix", c.prefix,
			"redfish_auth_type", "basic"))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The BMC's certificate is checked against the authorities that the node names.
func TestVerify(t *testing.T) {
	b := newBoard(t)
	s := httptest.NewTLSServer(b)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty", "empty.pem")
	if err := errors.Join(os.Mkdir(filepath.Dir(empty), 0o700), os.WriteFile(empty, nil, 0o600),
		os.Mkdir(filepath.Join(dir, "all"), 0o700),
		os.WriteFile(filepath.Join(dir, "all", "ca.pem"), block, 0o600)); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, redfish.Options{BackOff: time.Millisecond, CAs: cacert.Folder(dir)})
	for _, c := range []struct {
		verify any
		want   string
	}{
		{nil, "certificate signed by unknown authority"},
		{true, "certificate signed by unknown authority"},
		{"false", ""},
		{ca, ""},
		{"ca.pem", ""},
		{string(block), ""},
		{dir + "/all", ""},
		{empty, "holds no PEM certificate"},
		{"/dev/zero", cacert.ErrNotOpen.Error()},
	} {
		_, err := d.PowerState(t.Context(), b.node("redfish_address", s.URL, "redfish_verify_ca", c.verify))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("verify %v: got %v, want %q", c.verify, err, c.want)
		}
	}
}
