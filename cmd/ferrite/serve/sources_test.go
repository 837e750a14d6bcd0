package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSources: flags beat variables, which beat the file.
func TestSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	text := "host: from-file\ndeploy-timeout: 10m\nclean-timeout: 10m\nboot-dns: [10.0.0.1, 10.0.0.2]\n" +
		"sync-power-state-interval: 0\nforce-power-state-during-sync: true\npower-state-sync-max-retries: 5\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FERRITE_DEPLOY_TIMEOUT", "20m")
	t.Setenv("FERRITE_CLEAN_TIMEOUT", "20m")
	t.Setenv("FERRITE_HARDWARE_TYPES", "ipmi,redfish")
	t.Setenv("FERRITE_URL", "http://not-ours")
	got, err := parsed("--config", file, "--clean-timeout", "30m")
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Settings; s.SyncPowerInterval != 0 || !s.ForcePowerState || s.PowerSyncRetries != 5 ||
		s.PowerRecoveryInterval != 300*time.Second || s.SoftPowerOffTimeout != 600*time.Second {
		t.Errorf("settings of the power sync %+v", s)
	}
	if got.ConductorName != "from-file" || got.DeployTimeout != 20*time.Minute || got.CleanTimeout != 30*time.Minute ||
		fmt.Sprint(got.HardwareTypes) != "[ipmi redfish]" || len(got.BootDNS) != 2 || got.InspectTimeout != 30*time.Minute {
		t.Errorf("settings %+v", got)
	}
}

// TestValues: a value of the file or a variable is read as the flag's, in each form that YAML has for it. An error
// names where the value stands.
func TestValues(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ file, env, want string }{
		{"disk-reserve: '0'\ninit: \"true\"\nevents-age: 7d12h\naudit-keep: 720h0m", "", "0 true 180h0m0s 720h0m0s"},
		{"automated-clean: false\nerase-devices-priority: 0x10\ngroup:\ninit:", "", "16 false"},
		{"cluster-key-file: /key\ndatabase: postgres://h/d\ngroup: 007", "", "group 007"},
		{"boot-dns: 10.0.0.1\nauth: [none]\nfile-url-allowed-paths: ['/a,b', /c]", "", "[10.0.0.1] [none] [/a,b /c]"},
		{"x: &rack {subnet: 10.2.0.0/24}", "", `FILE: unknown setting "x"; `},
		{"boot-subnets: [10.2.0.0/24 pool=none, {subnet: 10.3.0.0/24, dns: [10.0.0.1, 10.0.0.2], name: Rack 3}]", "",
			"[10.2.0.0/24 pool=none subnet=10.3.0.0/24 dns=10.0.0.1,10.0.0.2 name=Rack 3]"},
		{"bmc-allow: &own [127.0.0.1/32]\nagent-allow: *own", "", "[127.0.0.1/32] [127.0.0.1/32]"},
		{"boot-subnets:\naudit-keep: null", "", "168h0m0s 0s"},
		{"kexec: yes", "", `FILE: kexec: invalid value "yes": say auto or never`},
		{"boot: 2", "", `FILE: boot: invalid value "2": `},
		{"deploy-timeout: 1800", "", `FILE: deploy-timeout: invalid value "1800": time: missing unit`},
		{"host: [a, b]", "", "FILE: host: expected one value, found a list"},
		{"host: {a: b}", "", "FILE: host: expected one value, found a map or a list"},
		{"boot-dns: [[10.0.0.1]]", "", "FILE: boot-dns: expected one value, found a map or a list"},
		{"- host", "", "FILE: yaml: "},
		{"workers: 1\nworkers: 2", "", `FILE: yaml: unmarshal errors:`},
		{"init: true", "INIT=", "64 true"}, // an empty variable is none
		{"data-dir: /a\n---\ndata-dir: /b", "", "FILE: expected one YAML document"},
		{"config: /etc/other.yaml", "", "FILE: config: a file cannot name another one: remove the line"},
		{"check: true", "", "FILE: check: no start would serve: remove the line"},
		{"events-age: 768614336404564651d", "", `FILE: events-age: invalid value "768614336404564651d": expected a time`},
		{"events-age: 106752d", "", "FILE: events-age: invalid value"},
		{"events-age: 1h7d", "", "FILE: events-age: invalid value"},
		{"", "BOOT_SUBNETS=10.2.0.0/24 dns=10.0.0.1,10.0.0.2;10.3.0.0/24", "[10.2.0.0/24 dns=10.0.0.1,10.0.0.2 10.3.0.0/24]"},
		{"workers: 0", "WORKERS=many", `FERRITE_WORKERS: invalid value "many": `},
		{"log-format: xml", "", `FILE: log-format: invalid value "xml": say text or json`},
		{"log-level: INFO", "", "64 false"},
		{"data-dir: ''", "", `--data-dir "": name the folder of the database`},
		{"metrics-address: localhost", "", `--metrics-address "localhost" is not host:port`},
		{"cluster-address: localhost", "", `--cluster-address "localhost" is not host:port`},
		{"hardware-types: []", "", "--hardware-types []: name at least one of "},
		{"host: ''", "", `--host "": a conductor needs a name`},
		{"media-url: 'ftp://192.0.2.1'", "", `--media-url "ftp://192.0.2.1": expected an http(s) URL`},
		{"step-timeout: 10ms", "", "--step-timeout 10ms is too short: say 1s or more"},
		{"discovery-limit: 0", "", "--discovery-limit 0 takes in nothing: "},
		{"workers: 0\nhost: ''", "", "a conductor needs a name\n--workers 0 carries out nothing"},
		{"workers: 0", "", "--workers 0 carries out nothing: say 1 or more"},
	} {
		t.Run(tc.file+tc.env, func(t *testing.T) {
			path := filepath.Join(dir, "f.yaml")
			if err := os.WriteFile(path, []byte(tc.file+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name, value, set := strings.Cut(tc.env, "="); set {
				t.Setenv("FERRITE_"+name, value)
			}
			c, err := parsed("--config", path)
			got := fmt.Sprint(c.DiskReserve, c.Init, c.EventsAge, c.AuditKeep, c.EraseDevicesPriority, c.AutomatedClean,
				" group ", c.Group, c.BootDNS, c.Auth, c.FilePaths, c.BootSubnets, c.BMCAllow, c.AgentAllow, err)
			if want := strings.ReplaceAll(tc.want, "FILE", "configuration file "+path); !strings.Contains(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		})
	}
	t.Setenv("FERRITE_CONFIG", filepath.Join(dir, "none"))
	if _, err := parsed(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "none")) {
		t.Errorf("the file of FERRITE_CONFIG: %v", err)
	}
}

// TestDays: a flag, a variable and the file agree on times with days.
func TestDays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte("events-age: 9d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--events-age", "9d"}, {"--config", file}, nil} {
		if args == nil {
			t.Setenv("FERRITE_EVENTS_AGE", "9d")
		}
		if c, err := parsed(args...); err != nil || c.EventsAge != 9*24*time.Hour {
			t.Errorf("%v: %s, %v", args, c.EventsAge, err)
		}
	}
	if _, err := parsed("--events-age", "768614336404564651d"); err == nil {
		t.Error("a time of more days than there are is accepted")
	}
}

// TestAllFaults: one look at the sources shows all their faults.
func TestAllFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte("boot: 2\nboot-pol: x\nkexec: yes\nset-no: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FERRITE_WORKERS", "many")
	_, err := parsed("--config", file)
	for _, want := range []string{"FERRITE_WORKERS", "boot: ", `"boot-pol" (did you mean boot-pool?)`, "kexec: ", `"set-no"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
