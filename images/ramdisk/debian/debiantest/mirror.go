// Package debiantest makes a small signed mirror of Debian for tests, served over loopback.
package debiantest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/klauspost/compress/zstd"
)

// Mirror is an archive with a key of its own. Sign makes its lists; until then it has none.
type Mirror struct {
	URL     string // as --mirror takes it
	Keyring string // file of its public key

	key   *openpgp.Entity
	mu    sync.Mutex
	files map[string][]byte // by path of the URL, as /debian/dists/bookworm/InRelease
	lists map[string]string // text of Packages, by "suite component"
}

// New serves an empty mirror until the test ends.
func New(t testing.TB) *Mirror {
	t.Helper()
	key, err := openpgp.NewEntity("A Mirror", "", "mirror@example.org", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	m := &Mirror{key: key, files: map[string][]byte{}, lists: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(server.Close)
	m.URL = server.URL + "/debian"
	var ring bytes.Buffer
	if err := key.Serialize(&ring); err != nil {
		t.Fatal(err)
	}
	m.Keyring = filepath.Join(t.TempDir(), "keyring.gpg")
	if err := os.WriteFile(m.Keyring, ring.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *Mirror) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(content)
}

// Change replaces a mirror's file at a path, as a fault would. Unlike Sign it signs nothing.
func (m *Mirror) Change(path string, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[path] = change(m.files[path])
}

// Paths lists the mirror's files.
func (m *Mirror) Paths() (paths []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for path := range m.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// Package is a package to be added.
type Package struct {
	Name, Version, Suite, Component string
	Depends                         string
	Deb                             []byte // see Deb
}

// Add puts a package into the pool and its list.
func (m *Mirror) Add(p Package) {
	m.mu.Lock()
	defer m.mu.Unlock()
	base := "/debian"
	if strings.HasSuffix(p.Suite, "-security") {
		base = "/debian-security"
	}
	file := fmt.Sprintf("pool/%s_%s_amd64.deb", p.Name, p.Version)
	m.files[base+"/"+file] = p.Deb
	text := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: amd64\nFilename: %s\nSize: %d\nSHA256: %x\n", p.Name,
		p.Version, file, len(p.Deb), sha256.Sum256(p.Deb))
	if p.Depends != "" {
		text += "Depends: " + p.Depends + "\n"
	}
	m.lists[p.Suite+" "+p.Component] += text + "\n"
}

// Sign makes the lists and InRelease of a suite. Fields are added to the release, as "Valid-Until: ...\n".
func (m *Mirror) Sign(t testing.TB, suite, fields string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	base := "/debian"
	if strings.HasSuffix(suite, "-security") {
		base = "/debian-security"
	}
	var components []string
	var sums strings.Builder
	for key, text := range m.lists {
		component, ok := strings.CutPrefix(key, suite+" ")
		if !ok {
			continue
		}
		components = append(components, component)
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		name := component + "/binary-amd64/Packages.gz"
		m.files[base+"/dists/"+suite+"/"+name] = packed.Bytes()
		fmt.Fprintf(&sums, " %x %d %s\n", sha256.Sum256(packed.Bytes()), packed.Len(), name)
	}
	slices.Sort(components)
	text := fmt.Sprintf("Origin: Test\nSuite: %s\nCodename: %s\nDate: %s\n%sComponents: %s\nSHA256:\n%s", suite, suite,
		time.Now().UTC().Format(time.RFC1123), fields, strings.Join(components, " "), sums.String())
	var signed bytes.Buffer
	writer, err := clearsign.Encode(&signed, m.key.PrivateKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	m.files[base+"/dists/"+suite+"/InRelease"] = signed.Bytes()
}

// Entry is a file, or a link, of a package.
type Entry struct {
	Name string // as "./usr/bin/x"
	Text string
	Link string // target of a symbolic link; "" for a file
	Mode int64  // 0 for 0644
}

// Deb makes a package out of files, packed with zstd.
func Deb(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var plain bytes.Buffer
	archive := tar.NewWriter(&plain)
	for _, e := range entries {
		header := &tar.Header{Name: e.Name, Mode: e.Mode, Size: int64(len(e.Text)), Typeflag: tar.TypeReg, Linkname: e.Link}
		if header.Mode == 0 {
			header.Mode = 0o644
		}
		if e.Link != "" {
			header.Typeflag, header.Size = tar.TypeSymlink, 0
		}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(e.Text)); e.Link == "" && err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packer.Close() //nolint:errcheck // nothing was written to it
	return Ar("debian-binary", "2.0\n", "control.tar", "", "data.tar.zst", string(packer.EncodeAll(plain.Bytes(), nil)))
}

// Ar makes an ar archive out of names and contents in turn.
func Ar(members ...string) []byte {
	var text bytes.Buffer
	text.WriteString("!<arch>\n")
	for i := 0; i+1 < len(members); i += 2 {
		fmt.Fprintf(&text, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", members[i], 0, 0, 0, "100644", len(members[i+1]), members[i+1])
		if len(members[i+1])%2 == 1 {
			text.WriteByte('\n')
		}
	}
	return text.Bytes()
}
