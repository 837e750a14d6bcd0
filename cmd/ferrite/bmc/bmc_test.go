package bmc

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/doctor"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
)

func TestParse(t *testing.T) {
	const one = "/redfish/v1/Systems/1"
	for _, tc := range []struct {
		address, system string
		want            map[string]any
	}{
		{"10.0.0.1", "", map[string]any{"redfish_address": "https://10.0.0.1"}},
		{"bmc7.example:8443", "1", map[string]any{"redfish_address": "https://bmc7.example:8443", "redfish_system_id": one}},
		{"http://10.0.0.1/", "", map[string]any{"redfish_address": "http://10.0.0.1"}},
		{"fd00::1", "", map[string]any{"redfish_address": "https://[fd00::1]"}},
		{"fe80::1%eth0", "", map[string]any{"redfish_address": "https://[fe80::1%eth0]"}},
		{"idrac-virtualmedia+https://10.0.0.1" + one, "", map[string]any{"redfish_address": "https://10.0.0.1/redfish/v1",
			"redfish_system_id": one}},
		{"redfish+http://10.0.0.1:8000" + one, "/redfish/v1/Systems/2", map[string]any{
			"redfish_address": "http://10.0.0.1:8000/redfish/v1", "redfish_system_id": "/redfish/v1/Systems/2"}},
		{"ipmi://10.0.0.1", "", map[string]any{"ipmi_address": "10.0.0.1"}},
		{"ipmi://[fd00::1]:6230", "", map[string]any{"ipmi_address": "fd00::1", "ipmi_port": "6230"}},
		{"https://", "", nil},
		{"ipmi://", "", nil},
		{"ipmi://10.0.0.1/x", "", nil},
	} {
		got, err := parse(tc.address, tc.system)
		if (err == nil) != (tc.want != nil) {
			t.Errorf("%s: %v", tc.address, err)
		}
		if diff := cmp.Diff(tc.want, got.info); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.address, diff)
		}
	}
}

// run runs the command before a recorded BMC, with the right password in a file.
func run(t *testing.T, change func(docs map[string]map[string]any), args ...string) (out string, err error) {
	t.Helper()
	docs := recordedtest.Small()
	if change != nil {
		change(docs)
	}
	web := recordedtest.Serve(t, docs, recorded.Config{Username: "admin", Password: "right"})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Command()
	var b bytes.Buffer
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(append([]string{"doctor", web.URL, "--username", "admin", "--password-file", file}, args...))
	err = c.ExecuteContext(t.Context())
	return b.String(), err
}

func TestDoctor(t *testing.T) {
	out, err := run(t, nil)
	if err != nil || !strings.Contains(out, "machine      Anvil A1") || !strings.Contains(out, "virtual media") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, nil, "-o", "json")
	var r doctor.Report
	if bad := json.Unmarshal([]byte(out), &r); bad != nil || err != nil || !r.Usable() || r.Machine != "Anvil A1" {
		t.Errorf("%v, %v: %+v", err, bad, r)
	}
}

// TestSave writes a recording that replays, once.
func TestSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "anvil.tar.gz")
	if out, err := run(t, nil, "--save", file); err != nil || !strings.Contains(out, "documents are in "+file) {
		t.Errorf("%v\n%s", err, out)
	}
	tree, err := recorded.Load(file)
	if err != nil || tree.Name != "anvil" || len(tree.Systems()) != 1 {
		t.Errorf("%v, %v", tree, err)
	}
	if out, err := run(t, nil, "--save", file); err == nil || !strings.Contains(err.Error(), "is there already") ||
		strings.Contains(out, "machine ") {
		t.Errorf("again: %v\n%s", err, out)
	}
}

// TestUnusable: the exit status says for scripts that a machine cannot be deployed.
func TestUnusable(t *testing.T) {
	out, err := run(t, func(d map[string]map[string]any) {
		d["/redfish/v1/Systems"]["Members"] = []any{}
	})
	if !errors.Is(err, errNotLookedAt) || !strings.Contains(out, "BMC lists no system") ||
		!strings.Contains(out, "machine      not known") ||
		!strings.Contains(out, "were not checked") || strings.Contains(out, "skipped") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRefused: wrong flags are refused before the BMC is asked.
func TestRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"expected table or json":  {"-o", "yaml"},
		"contradict each other":   {"--insecure", "--verify-ca", "x"},
		"no such file":            {"--verify-ca", "/nowhere/ca.pem"},
		"must be legacy":          {"--tls", "old"},
		"--password-file /gone/x": {"--password-file", "/gone/x"},
	} {
		if _, err := run(t, nil, args...); err == nil || !strings.Contains(err.Error()+" "+strings.Join(args, " "), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// TestShow: the output for people on each part.
func TestShow(t *testing.T) {
	var b strings.Builder
	err := show(&b, doctor.Report{Address: "https://10.0.0.1", Protocol: "Redfish 1.17.0",
		Certificate: &doctor.Certificate{TLS: "TLS 1.1", Subject: "CN=idrac", Expires: time.Unix(0, 0).UTC(),
			Problems: []string{"it has expired: renew it on the BMC"}},
		Findings: []doctor.Finding{{Operation: "login", Need: doctor.Must, Verdict: doctor.Works, Requests: 2,
			Took: 1500 * time.Millisecond, Quirks: []string{"full-boot-request"}, Detail: "by session"}},
		Sessions: []redfish.OpenSession{{User: "root", Client: "192.0.2.1"}, {User: "ops"},
			{User: "root", Client: "192.0.2.1"}}, Notes: []string{"a list names itself"},
		Odd: []redfish.Oddity{{Path: "/redfish/v1/Systems/1", Field: "SKU", Kind: "a number", Done: "read as text"}}})
	for _, want := range []string{"TLS 1.1, of CN=idrac, until 1970-01-01", "it has expired", "1.5s (2 requests)",
		"way around: full-boot-request", "sessions of others: 3\n  root 192.0.2.1, 2 times\n  ops\n",
		"odd:\n  /redfish/v1/Systems/1 SKU is a number, read as text\n", "notes:\n  a list names itself",
		"names no maker"} {
		if err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing of\n%s%v", want, b.String(), err)
		}
	}
}

// TestReport plants private values in documents, of which the model is shown: none is in the file.
func TestReport(t *testing.T) {
	const serial, host = "CN7016AB12345", "db-primary.corp.example"
	file := filepath.Join(t.TempDir(), "anvil.json")
	out, err := run(t, func(docs map[string]map[string]any) {
		const at = "/redfish/v1/Systems/1"
		docs[at]["SerialNumber"], docs[at]["HostName"] = serial, host
		docs[at]["Model"] = "A1 of " + host + " at https://10.44.7.19/x and 10.44.7.20:443"
	}, "--report", file)
	if err != nil || !strings.Contains(out, "the verdict is in "+file) {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{serial, host, "10.44.7", "127.0.0.1"} {
		if bytes.Contains(raw, []byte(private)) {
			t.Errorf("the report has %q:\n%s", private, raw)
		}
	}
	var s doctor.Shared
	if err := json.Unmarshal(raw, &s); err != nil || !s.Usable || !strings.HasPrefix(s.Machine, "Anvil A1 of ") ||
		len(s.Findings) < 10 {
		t.Errorf("%v: %+v", err, s)
	}
	if out, err := run(t, nil, "--report", file); err == nil || strings.Contains(out, "machine ") {
		t.Errorf("a file that is there was replaced: %v\n%s", err, out)
	}
}
