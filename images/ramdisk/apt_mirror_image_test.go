//go:build imagetest

package ramdisk

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// publicSources are Debian's own, as apt writes them.
const publicSources = `deb http://deb.debian.org/debian bookworm main non-free-firmware
deb http://deb.debian.org/debian-security bookworm-security main non-free-firmware
deb http://deb.debian.org/debian bookworm-backports main non-free-firmware
`

// aptMirror serves Debian over loopback by the apt of this machine, so that a build without apt can be tried wherever
// apt works: lists as Debian signed them, and packages when they are asked for.
type aptMirror struct {
	t   *testing.T
	dir string
	mu  sync.Mutex
}

// newAptMirror returns the address of a mirror.
func newAptMirror(t *testing.T) string {
	t.Helper()
	m := &aptMirror{t: t, dir: t.TempDir()}
	for _, dir := range []string{"state/lists/partial", "cache/archives/partial", "debs"} {
		if err := os.MkdirAll(filepath.Join(m.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(m.dir, "sources.list"), publicSources)
	if out, err := m.apt(t.Context(), "update").CombinedOutput(); err != nil {
		t.Fatalf("apt-get update: %v\n%s", err, out)
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL + "/debian"
}

// apt is apt-get with lists and sources of its own, and lists that stay packed as they came.
func (m *aptMirror) apt(ctx context.Context, args ...string) *exec.Cmd {
	for _, option := range []string{
		"Dir::State=" + m.dir + "/state", "Dir::State::status=/dev/null", "Dir::Cache=" + m.dir + "/cache",
		"Dir::Etc::sourcelist=" + m.dir + "/sources.list", "Dir::Etc::sourceparts=-", "APT::Sandbox::User=root",
		"Acquire::GzipIndexes=true", "Acquire::IndexTargets::deb::Packages::KeepCompressed=true",
		"Acquire::IndexTargets::deb::Packages::KeepCompressedAs=xz", "Acquire::Languages=none",
	} {
		args = append(args, "-o", option)
	}
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Dir = filepath.Join(m.dir, "debs")
	return cmd
}

func (m *aptMirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	file, err := m.file(r.Context(), strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		m.t.Logf("%s: %v", r.URL.Path, err)
		http.NotFound(w, r)
		return
	}
	http.ServeFile(w, r, file)
}

// file is apt's path for an address: debian/dists/... or debian/pool/...
func (m *aptMirror) file(ctx context.Context, name string) (string, error) {
	lists := filepath.Join(m.dir, "state/lists")
	head, hash, byHash := strings.Cut(name, "/by-hash/SHA256/")
	switch {
	case byHash && len(hash) == 64:
		return onlyFile(filepath.Join(lists, "*_"+strings.ReplaceAll(head, "/", "_")+"_Packages*"))
	case strings.Contains(name, "/dists/"):
		return onlyFile(filepath.Join(lists, "*_"+strings.ReplaceAll(name, "/", "_")))
	case path.Ext(name) != ".deb":
		return "", fmt.Errorf("neither list nor package")
	}
	pkg, rest, _ := strings.Cut(path.Base(name), "_")
	version, _, _ := strings.Cut(rest, "_")
	found, err := onlyFile(filepath.Join(m.dir, "debs", pkg+"_*"+version+"_*.deb"))
	if err == nil {
		return found, nil
	}
	if out, err := m.apt(ctx, "download", pkg+"=*"+version).CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get download %s: %w: %s", pkg, err, out)
	}
	return onlyFile(filepath.Join(m.dir, "debs", pkg+"_*"+version+"_*.deb"))
}

func onlyFile(pattern string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s: %d files: %w", pattern, len(found), os.ErrNotExist)
	}
	return found[0], nil
}
