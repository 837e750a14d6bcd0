package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
)

// conductor is one `ferrite serve` inside the test.
type conductor = servetest.Conductor

// command runs `ferrite serve` with arguments until it ends by itself.
func command(ctx context.Context, args ...string) (string, error) {
	c := Command()
	out := &apitest.Log{}
	c.SetArgs(args)
	c.SetErr(out)
	c.SetOut(io.Discard)
	c.SilenceErrors = true
	err := c.ExecuteContext(ctx)
	return out.String(), err
}

func start(t testing.TB, dir string, args ...string) *conductor {
	t.Helper()
	return startFor(t, &conductor{}, dir, args...)
}

// startFor starts the conductor c. The fields of c set how to call it.
func startFor(t testing.TB, c *conductor, dir string, args ...string) *conductor {
	t.Helper()
	return servetest.StartFor(t, c, Command(), dir, args...)
}

// TestContract is the contract with scripts: a node of fake hardware goes through its life, survives a restart, and the
// data folder is private and locked.
func TestContract(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"))
	defer http.DefaultClient.CloseIdleConnections()
	dir := filepath.Join(t.TempDir(), "data")
	c := start(t, dir, "--auth", "none", "--boot=false")
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("data folder: %v, %v", st.Mode(), err)
	}
	if _, err := command(t.Context(), "--data-dir", dir, "--api-address", servetest.AnyPort); err == nil ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("a second conductor on the same data: %v", err)
	}
	c.Sign = func(r *http.Request) { // a page with a name that resolves to this computer
		r.Host = "evil.example:25010"
		r.Header.Set("Origin", "http://evil.example:25010")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware"}, http.StatusMisdirectedRequest)
	c.Sign = nil
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, 201)
	id := fmt.Sprint(n["uuid"])
	for _, step := range [][2]string{{"manage", "manageable"}, {"inspect", "manageable"}, {"provide", "available"},
		{"active", "active"}} {
		c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": step[0]}, 202)
		c.Until(t, id, step[1])
	}
	c.End(t)
	c = start(t, dir)
	defer c.End(t)
	if n := c.Until(t, "n1", "active"); n["uuid"] != id {
		t.Errorf("after a restart: %v", n)
	}
	c.Call(t, "PUT", "/v1/nodes/n1/states/power", map[string]any{"target": "power on"}, 202)
	if n := c.Until(t, id, "active"); n["power_state"] != "power on" {
		t.Errorf("power is %v", n["power_state"])
	}
	c.Call(t, "PUT", "/v1/nodes/n1/states/provision", map[string]any{"target": "deleted"}, 202)
	c.Until(t, id, "available")
	// Settings that cannot work are named, and the node goes back.
	info := map[string]any{"ipmi_address": "192.0.2.1", "ipmi_bridging": "single"}
	ipmi := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "ipmi", "driver_info": info}, 201)
	c.Call(t, "PUT", fmt.Sprintf("/v1/nodes/%v/states/provision", ipmi["uuid"]), map[string]any{"target": "manage"}, 202)
	if n := c.Until(t, fmt.Sprint(ipmi["uuid"]), "enroll"); !strings.Contains(fmt.Sprint(n["last_error"]),
		"ipmi_bridging must be no") {
		t.Errorf("ipmi: last_error %v", n["last_error"])
	}
}

func TestRefusesToStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte("hardware-type: [redfish]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(users, []byte("users: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"logs collected always":      {[]string{"--deploy-logs-collect", "always"}, "say on_failure or never"},
		"kexec as a boolean":         {[]string{"--kexec", "true"}, "say auto or never"},
		"image check":                {[]string{"--check-image", "true"}, "say warn or require or off"},
		"agents of all":              {[]string{"--fast-track-agents", "all"}, "say own or any"},
		"idle before it begins":      {[]string{"--fast-track-idle", "-1m"}, "0 for never"},
		"no time for a ramdisk":      {[]string{"--ramdisk-shutdown-timeout", "0s"}, "over before it begins"},
		"a limit within the timeout": {[]string{"--step-limit", "1h"}, "--step-limit 1h0m0s is less than"},
		"the port is taken":          {[]string{"--api-address", taken.Addr().String()}, "address already in use"},
		"no port":                    {[]string{"--api-address", "127.0.0.1"}, "not host:port"},
		"unknown authentication":     {[]string{"--auth", "kerberos"}, "expected none, or some of basic, token and keystone"},
		"none and another":           {[]string{"--auth", "none,basic"}, "expected none, or some of basic, token"},
		"passwords without a file":   {[]string{"--auth", "basic"}, "--htpasswd-file"},
		"tokens without a file":      {[]string{"--auth", "token"}, "--users-file"},
		"users nobody asks for":      {[]string{"--users-file", file}, "asks no caller"},
		"rules without callers":      {[]string{"--policy-file", file}, "--policy-file has rules about callers"},
		"a policy that is none": {[]string{"--auth", "token", "--users-file", users, "--policy-file", file},
			"f.yaml: line 1: rule hardware-type: expected"},
		"agents at the API": {[]string{"--api-address", "127.0.0.1:1", "--agent-api-address", "127.0.0.1:1"},
			"leave it out to serve agents there"},
		"agents led to the API": {[]string{"--api-address", "127.0.0.1:1", "--agent-api-address", "127.0.0.1:2",
			"--advertise-url", "http://127.0.0.1:1"}, "which refuses agents"},
		"agents at a taken port": {[]string{"--agent-api-address", taken.Addr().String()}, "--agent-api-address: listen"},
		"a step without an interface": {[]string{"--disallow-clean-steps", "factory_reset"},
			"--disallow-clean-steps [factory_reset]: expected INTERFACE.STEP"},
		"any agent beside words": {[]string{"--lookup-at-rest", "any", "--boot", "--boot-interface", "lo"},
			"one-time token"},
		"any agent, none kept":       {[]string{"--lookup-at-rest", "any", "--fast-track=false"}, "no agent at rest is kept"},
		"no such users":              {[]string{"--auth", "token", "--users-file", "/nope"}, "ferrite user set"},
		"a users file that is none":  {[]string{"--auth", "token", "--users-file", file}, "unknown field"},
		"orders from anybody":        {[]string{"--api-address", "0.0.0.0:0"}, "--allow-anybody"},
		"orders from any interface":  {[]string{"--api-address", ":0"}, "--allow-anybody"},
		"no scheme of a public URL":  {[]string{"--public-url", "cloud.example/metal"}, "https://cloud.example/metal"},
		"a certificate without key":  {[]string{"--tls-cert", file}, "go together"},
		"a certificate that is none": {[]string{"--tls-cert", file, "--tls-key", file}, "TLS certificate and key"},
		"http beside a certificate": {[]string{"--tls-cert", file, "--tls-key", file, "--advertise-url", "http://h"},
			"plain http"},
		"unknown hardware type":     {[]string{"--hardware-types", "redfish,abacus"}, "abacus"},
		"unknown default interface": {[]string{"--default-inspect-interface", "agnet"}, "it is no inspect interface of"},
		"default of some types": {[]string{"--default-boot-interface", "redfish-virtual-media", "--hardware-types",
			"redfish,ipmi"}, "it is no boot interface of ipmi; say ipxe or pxe or http or http-ipxe, or leave these out"},
		"unknown flag":              {[]string{"--hardware"}, "unknown flag"},
		"boot without an interface": {[]string{"--boot"}, "--boot-interface"},
		"boot on no such interface": {
			[]string{"--boot", "--boot-interface", "nope0", "--advertise-url", "http://10.0.0.1"}, "nope0",
		},
		"boot without a way back":    {[]string{"--boot", "--boot-interface", "lo"}, "--advertise-url"},
		"a kernel without initramfs": {[]string{"--ramdisk-kernel", "/x"}, "go together"},
		"no such ramdisk":            {[]string{"--ramdisk-kernel", "/nope", "--ramdisk-initrd", "/nope"}, "ramdisk build"},
		"log level":                  {[]string{"--log-level", "loud"}, "say debug or info"},
		"unknown setting in a file": {[]string{"--config", file},
			`unknown setting "hardware-type" (did you mean hardware-types?)`},
		"tokens believed for hours":  {[]string{"--keystone-cache", "1h"}, "--keystone-cache 1h0m0s: expected 0s to 10m0s"},
		"a power sync without pause": {[]string{"--sync-power-state-interval", "1ms"}, "--sync-power-state-interval"},
		"no time to shut down":       {[]string{"--soft-power-off-timeout", "0"}, "--soft-power-off-timeout"},
		"a timeout that is over":     {[]string{"--clean-timeout", "-5m"}, "--clean-timeout -5m0s is over"},
		"discovery as nothing known": {[]string{"--discovery", "snmp"}, "is not among --hardware-types"},
		"credentials of no kind":     {[]string{"--bmc-credentials", "ask"}, "say none or generate"},
		"credentials of nobody":      {[]string{"--bmc-credentials", "generate"}, "say --discovery redfish, too"},
		"credentials without users": {[]string{"--bmc-credentials", "generate", "--discovery", "fake-hardware"},
			"BMCs of that type have no users"},
		"credentials in clear": {[]string{"--bmc-credentials", "generate", "--discovery", "redfish"}, "say --tls-cert"},
		"discovery of none":    {[]string{"--discovery", "ipmi", "--discovery-limit", "0"}, "--discovery-limit 0"},
		"discovery without a ramdisk": {[]string{"--discovery", "ipmi", "--boot", "--boot-interface", "lo"},
			"needs --ramdisk-kernel"},
		"fewer than no hosts":      {[]string{"--host-limit", "-1"}, "--host-limit -1"},
		"fewer than no cleaning":   {[]string{"--max-concurrent-clean", "-1"}, "--max-concurrent-clean -1"},
		"no workers":               {[]string{"--workers", "0"}, "--workers 0"},
		"no readers":               {[]string{"--sync-power-state-workers", "0"}, "--sync-power-state-workers"},
		"less than no retries":     {[]string{"--power-state-sync-max-retries", "-1"}, "--power-state-sync-max-retries"},
		"a name for a network":     {[]string{"--bmc-allow", "localhost"}, "--bmc-allow"},
		"an agent for a network":   {[]string{"--agent-allow", "web-1"}, "--agent-allow"},
		"agents' authorities":      {[]string{"--agent-ca", "/dev/null"}, "--agent-ca"},
		"no agents' authorities":   {[]string{"--agent-ca", "/nowhere/ca.pem"}, "--agent-ca"},
		"a registry for a network": {[]string{"--registry-allow", "r:5000"}, "--registry-allow"},
		"images of a name":         {[]string{"--image-allow", "images"}, "--image-allow"},
		"no such folder of CAs":    {[]string{"--ca-folder", "/nope"}, "--ca-folder"},
		"no such file":             {[]string{"--config", "/nope.yaml"}, "/nope.yaml"},
		"an old TLS":               {[]string{"--tls-minimum-version", "1.1"}, "say 1.2 or 1.3"},
		"ciphers by group":         {[]string{"--agent-tls-ciphers", "HIGH"}, `--agent-tls-ciphers has "HIGH"`},
		"ciphers without effect": {[]string{"--bmc-tls-minimum-version", "1.3", "--bmc-tls-ciphers", "AES128-SHA"},
			"has no effect"},
		"a priority below zero": {[]string{"--erase-devices-priority", "-1"}, "--erase-devices-priority -1"},
		"overwriting nothing": {
			[]string{"--shred-random-overwrite-iterations", "0", "--shred-final-overwrite-with-zeros=false"},
			"--shred-random-overwrite-iterations 0",
		},
		"no disk at a time": {[]string{"--disk-erasure-concurrency", "0"}, "--disk-erasure-concurrency 0"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), servetest.Patience) // a conductor that starts would not end
			defer cancel()
			args := append([]string{"--data-dir", t.TempDir(), "--api-address", servetest.AnyPort}, tc.args...)
			_, err := command(ctx, args...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want it to say %q", err, tc.want)
			}
		})
	}
}

func TestPool(t *testing.T) {
	for want, c := range map[string]Config{
		"10.0.0.128-10.0.0.254 10.0.0.1 ": {BootAddress: "10.0.0.1/24"},
		"10.0.0.5-10.0.0.9 10.0.0.1 ":     {BootAddress: "10.0.0.1/24", BootPool: "10.0.0.5-10.0.0.9"},
		"too small":                       {BootAddress: "10.0.0.1/30"},
		"not first-last":                  {BootAddress: "10.0.0.1/24", BootPool: "10.0.0.5"},
		"not address/prefix":              {BootAddress: "10.0.0.1"},
	} {
		addr, s, err := c.subnet()
		got := fmt.Sprintf("%s-%s %s ", s.First, s.Last, addr)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%+v gives %q, want %q", c, got, want)
		}
	}
}

// TestBootLogs: logs outlive a restart, and go with their node, also when it was deleted while no conductor could
// remove them.
func TestBootLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := start(t, dir)
	n := c.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1"}, 201)
	id := fmt.Sprint(n["uuid"])
	c.End(t)
	const gone = "11111111-2222-4333-8444-555555555555"
	for _, node := range []string{id, gone} {
		folder := filepath.Join(dir, "logs", node)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "00000001-00000000000000aa.log"), []byte("a line\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	c = start(t, dir)
	defer c.End(t)
	if _, err := os.Stat(filepath.Join(dir, "logs", gone)); !os.IsNotExist(err) {
		t.Errorf("the log of a node that is no more: %v", err)
	}
	res, err := http.Get(c.URL + "/ferrite/v1/nodes/n1/logs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(text) != "a line\n" {
		t.Errorf("the log %q %v", text, err)
	}
	c.Call(t, "DELETE", "/v1/nodes/n1", nil, 204)
	if _, err := os.Stat(filepath.Join(dir, "logs", id)); !os.IsNotExist(err) {
		t.Errorf("the log of a deleted node: %v", err)
	}
}
