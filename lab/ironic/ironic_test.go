package ironic

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func made(t *testing.T) *Ironic {
	t.Helper()
	dir := t.TempDir()
	i := &Ironic{Dir: dir, Root: filepath.Join(dir, "http"), Address: netip.MustParseAddr("10.77.0.1"), Port: 6385}
	if err := os.Mkdir(i.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	return i
}

// TestConfig: all files that Ironic writes are below its folder, so that nothing stays behind, and it is reached at the
// lab's address alone.
func TestConfig(t *testing.T) {
	i := made(t)
	path, err := i.configure()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			settings[name] = value
		}
	}
	for name, value := range settings {
		file := strings.TrimPrefix(value, "sqlite:///")
		if strings.HasPrefix(file, "/") && name != "pybasedir" && file != i.Dir && !strings.HasPrefix(file, i.Dir+"/") {
			t.Errorf("%s = %s is outside of %s", name, value, i.Dir)
		}
	}
	for name, want := range map[string]string{
		"host_ip": "10.77.0.1", "port": "6385", "public_endpoint": "http://10.77.0.1:6385",
		"http_url": "http://10.77.0.1:8088", "http_root": i.Root, "state_path": i.Dir,
	} {
		if settings[name] != want {
			t.Errorf("%s is %q, want %q", name, settings[name], want)
		}
	}
	if _, said := settings["require_tls"]; said {
		t.Error("require_tls is Ironic's to decide")
	}
}

// TestBootScript: iPXE, sent to a path of its own, ends at Ironic's script, and finds the script's files beside it.
func TestBootScript(t *testing.T) {
	i := made(t)
	if err := os.Mkdir(filepath.Join(i.Root, "pxelinux.cfg"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		bootScript: "#!ipxe\n", "pxelinux.cfg/52-54-00-77-00-01": "of the machine\n",
	} {
		if err := os.WriteFile(filepath.Join(i.Root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(i.files())
	defer server.Close()
	res, err := http.Get(server.URL + "/ipxe/52-54-00-77-00-01")
	if err != nil {
		t.Fatal(err)
	}
	if script := read(t, res); script != "#!ipxe\n" {
		t.Errorf("the script is %q", script)
	}
	beside, err := res.Request.URL.Parse("pxelinux.cfg/52-54-00-77-00-01")
	if err != nil {
		t.Fatal(err)
	}
	if res, err = http.Get(beside.String()); err != nil {
		t.Fatal(err)
	}
	if text := read(t, res); text != "of the machine\n" {
		t.Errorf("%s is %q", beside, text)
	}
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
