package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: --check names a fault in the settings and in each file that they name, and makes nothing.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data := filepath.Join(dir, "data")
	for name, c := range map[string]struct{ config, wrong string }{
		"good":            {"data-dir: " + data + "\nhardware-types: [fake-hardware]\n", ""},
		"unknown key":     {"data-dirs: x\n", `unknown setting "data-dirs"`},
		"second document": {"data-dir: x\n---\nauth: [basic]\n", "found another behind ---"},
		"no users":        {"auth: [basic]\nhtpasswd-file: " + dir + "/none\n", "make them with: ferrite user set"},
		"no certificate":  {"tls-cert: " + file("cert", "x") + "\ntls-key: " + file("key", "x") + "\n", "cert"},
		"no hardware":     {"hardware-types: [steam]\n", "steam"},
		"unknown step": {"clean-step-priority-override: ['management.clear_job_queu:1']\n",
			"did you mean management.clear_job_queue?"},
		"log level":       {"log-level: loud\n", "loud"},
		"no interface":    {"api-address: 192.0.2.1:6385\nallow-anybody: true\nboot: true\nboot-interface: none0\n", "none0"},
		"a file for data": {"data-dir: " + file("file", "") + "\n", "expected a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := command(t.Context(), "--check", "--config", file("ferrite.yaml", c.config))
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
		})
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}
