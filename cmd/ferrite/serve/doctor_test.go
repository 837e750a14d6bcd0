//go:build !nooperate

package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/operate/doctor"
	"github.com/ferrite-metal/ferrite/conductor/server/certificate/certtest"
)

// doctorSays runs `ferrite server doctor`, and returns its findings as "grade found", by check.
func doctorSays(t *testing.T, config string) (map[string]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ferrite.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := DoctorCommand()
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&bytes.Buffer{})
	c.SilenceErrors = true
	c.SetArgs([]string{"--config", path, "-o", "json"})
	runErr := c.ExecuteContext(t.Context())
	var all []doctor.Finding
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err, out.String())
	}
	said := map[string]string{}
	for _, f := range all {
		said[f.Check] += f.Grade + " " + f.Found + "; "
		if f.Grade == doctor.GradeBad && f.Try == "" {
			t.Errorf("%s is bad, and nothing is said of what to do: %s", f.Check, f.Found)
		}
	}
	return said, runErr
}

func wantSaid(t *testing.T, said map[string]string, want map[string]string) {
	t.Helper()
	for check, text := range want {
		if !strings.Contains(said[check], text) {
			t.Errorf("%s: %q, expected %q", check, said[check], text)
		}
	}
}

// TestDoctor: a host that could start is well; each fault is found, and is bad.
func TestDoctor(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // bound at once
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	chain, key := certtest.New(t).Server("127.0.0.1")
	for name, text := range map[string][]byte{"cert.pem": chain, "key.pem": key, "htpasswd": nil,
		"users": []byte("users: []\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := doctorSays(t, fmt.Sprintf("data-dir: %s/data\napi-address: 127.0.0.1:0\ntls-cert: %s/cert.pem\n"+
		"tls-key: %s/key.pem\n", dir, dir, dir))
	if err != nil {
		t.Errorf("a host that could start: %v", err)
	}
	wantSaid(t, said, map[string]string{"configuration": "ok configuration: ok", "data folder": "is empty",
		"disk": "GB free", "ports": "ok tcp 127.0.0.1:0 is free", "API": "warn no conductor runs",
		"certificate": "cert.pem ends on", "clock": "the clock says", "BMCs": "ok BMCs that answer: 0 of 0"})
	if of := said["interface"] + said["other DHCP"] + said["ramdisk"]; of != "" {
		t.Errorf("without a boot service it says %q", of)
	}

	said, err = doctorSays(t, fmt.Sprintf("data-dir: %s/data\napi-address: %s\n", dir, taken.Addr()))
	if err == nil {
		t.Error("a port that is in use, and all is well")
	}
	wantSaid(t, said, map[string]string{"ports": "bad tcp " + taken.Addr().String() + " is in use"})

	if said, err = doctorSays(t, "api-adress: typo\n"); err == nil || len(said) != 1 {
		t.Errorf("a configuration that is refused: %v, %v", said, err)
	}
	said, err = doctorSays(t, fmt.Sprintf("data-dir: %s/data\napi-address: 192.0.2.1:6385\nallow-anybody: true\n"+
		"boot: true\nboot-interface: lo\nboot-pool: 127.0.0.10-127.0.0.20\nloader-dir: %s\n", dir, dir))
	if err == nil {
		t.Error("no ramdisk, and all is well")
	}
	wantSaid(t, said, map[string]string{"ramdisk": "bad no ramdisk is configured", "interface": "ok lo is up"})
}

// TestDoctorBesideConductor: of a running conductor the ports are its own, and a BMC that does not answer is named.
func TestDoctorBesideConductor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := start(t, dir)
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "redfish", "name": "silent", "driver_info": map[string]any{
		"redfish_address": "http://127.0.0.1:1", "redfish_username": "u", "redfish_password": "p"}}, http.StatusCreated)
	said, err := doctorSays(t, fmt.Sprintf("data-dir: %s\napi-address: %s\nbmc-allow: [127.0.0.0/8]\n"+
		"bmc-connect-timeout: 1s\n", dir, strings.TrimPrefix(c.URL, "http://")))
	c.End(t)
	if err != nil {
		t.Errorf("a running conductor: %v, %v", err, said)
	}
	wantSaid(t, said, map[string]string{"ports": "ok a conductor runs", "API": "ok http",
		"data folder": "ok database and keys", "BMCs": "warn BMCs that answer: 0 of 1; not:\nsilent (http://127.0.0.1:1)"})
}

// TestDoctorTable: the report fits 80 columns on a pipe; further lines of a check stand below its first.
func TestDoctorTable(t *testing.T) {
	var out bytes.Buffer
	err := show([]doctor.Finding{{Check: "clock", Grade: doctor.GradeGood, Found: "the clock says 12:00"},
		{Check: "data folder", Grade: doctor.GradeBad, Found: strings.Repeat("found ", 20), Try: "try it"}},
		"table", &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if lines[0] != "ok    clock        the clock says 12:00" || len(lines) != 4 ||
		lines[3] != "                   try: try it" {
		t.Errorf("it says\n%s", out.String())
	}
	for _, line := range lines {
		if len(line) > doctorColumns {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
