package debian

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// PublicMirror is Debian's own. Plain HTTP, as in Debian's installer: signatures protect its content, and a server
// without certificates of authorities can use it.
const PublicMirror = "http://deb.debian.org/debian"

// The parts of Debian that ramdisks are made of.
const (
	mainComponent     = "main"
	firmwareComponent = "non-free-firmware"
)

// DefaultSuites are Debian 12's: its last point release and later updates.
func DefaultSuites() []string { return []string{"bookworm", "bookworm-updates", "bookworm-security"} }

// maxRelease bounds InRelease and maxList a packed list of packages, in bytes. Debian's have 0.2 and 9 MB.
const (
	maxRelease = 16 << 20
	maxList    = 256 << 20
)

// Mirror is an archive reached by HTTP. It is for one goroutine.
type Mirror struct {
	URL      string   // of the archive, as PublicMirror; security updates are beside it, with "-security"
	Suites   []string // to look for packages in
	Keys     Keyring
	CacheDir string // folder for lists of packages
	Log      *slog.Logger

	client *http.Client
	lists  map[string]map[string]Package // by suite, by name: the newest version
}

// NewMirror checks the address of a mirror. Nothing is fetched yet.
func NewMirror(url string, suites []string, keys Keyring, cacheDir string, log *slog.Logger) (*Mirror, error) {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return nil, fmt.Errorf("mirror %q: expected http:// or https://, as in %s", url, PublicMirror)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: time.Minute,
		TLSHandshakeTimeout: time.Minute, IdleConnTimeout: time.Minute,
		// Lengths and hashes describe the files as they lie on the mirror.
		DisableCompression: true}
	return &Mirror{URL: strings.TrimRight(url, "/"), Suites: suites, Keys: keys, CacheDir: cacheDir, Log: log,
		client: &http.Client{Transport: transport}, lists: map[string]map[string]Package{}}, nil
}

// base is the folder that has a suite. Security updates have an archive of their own.
func (m *Mirror) base(suite string) string {
	if strings.HasSuffix(suite, "-security") {
		return m.URL + "-security"
	}
	return m.URL
}

// Find implements Archive.
func (m *Mirror) Find(ctx context.Context, name, suite string) (Package, error) {
	suites := m.Suites
	if suite != "" {
		suites = []string{suite}
	}
	var best Package
	for _, s := range suites {
		list, err := m.list(ctx, s)
		if err != nil {
			return Package{}, err
		}
		if p, ok := list[name]; ok && (best.Name == "" || compareVersions(p.Version, best.Version) > 0) {
			best = p
		}
	}
	if best.Name == "" {
		return Package{}, fmt.Errorf("package %s: %w in %s of %s", name, ErrNoPackage, strings.Join(suites, ", "), m.URL)
	}
	return best, nil
}

// Missing implements Archive.
func (m *Mirror) Missing() string {
	return fmt.Sprintf("the suites %s of %s have no component %s with them: name another mirror with --mirror",
		strings.Join(m.Suites, ", "), m.URL, firmwareComponent)
}

// Fetch implements Archive.
func (m *Mirror) Fetch(ctx context.Context, p Package, folder string) (string, error) {
	to := filepath.Join(folder, p.Name+".deb")
	m.Log.Info("downloading package", "package", p.Name, "version", p.Version, "bytes", p.Size)
	err := m.download(ctx, m.base(p.Suite)+"/"+p.Filename, to, sum{sha256: p.SHA256, size: p.Size})
	if err != nil {
		return "", fmt.Errorf("package %s: %w", p.Name, err)
	}
	return to, nil
}

// list returns the packages of a suite, fetched once.
func (m *Mirror) list(ctx context.Context, suite string) (map[string]Package, error) {
	if list, ok := m.lists[suite]; ok {
		return list, nil
	}
	list, err := m.fetchList(ctx, suite)
	if err != nil {
		return nil, fmt.Errorf("suite %s of %s: %w", suite, m.base(suite), err)
	}
	m.lists[suite] = list
	return list, nil
}

func (m *Mirror) fetchList(ctx context.Context, suite string) (map[string]Package, error) {
	if clean, err := cleanName(suite); err != nil || clean != suite {
		return nil, errors.New("expected the name of a suite, as bookworm-backports")
	}
	folder := m.base(suite) + "/dists/" + suite + "/"
	signed, err := m.read(ctx, folder+"InRelease", maxRelease)
	if err != nil {
		return nil, err
	}
	rel, err := openRelease(signed, m.Keys, suite, time.Now())
	if err != nil {
		return nil, fmt.Errorf("InRelease: %w", err)
	}
	list := map[string]Package{}
	for _, component := range []string{mainComponent, firmwareComponent} {
		if !slices.Contains(rel.components, component) {
			continue
		}
		if err := m.readPackages(ctx, folder, component, suite, rel, list); err != nil {
			return nil, fmt.Errorf("component %s: %w", component, err)
		}
	}
	return list, nil
}

// readPackages adds the packages of one component.
func (m *Mirror) readPackages(ctx context.Context, folder, component, suite string, rel release,
	list map[string]Package) error {
	for _, suffix := range []string{".xz", ".gz", ""} {
		name := component + "/binary-amd64/Packages" + suffix
		want, ok := rel.files[name]
		if !ok {
			continue
		}
		if want.size > maxList {
			return fmt.Errorf("%s has %d bytes, expected at most %d", name, want.size, int64(maxList))
		}
		url := folder + name
		if rel.byHash {
			url = folder + path.Join(path.Dir(name), "by-hash", "SHA256", want.sha256)
		}
		dir, err := buildcache.Once(ctx, filepath.Join(m.CacheDir, "lists"), want.sha256,
			func(ctx context.Context, dir string) error {
				return m.download(ctx, url, filepath.Join(dir, "list"), want)
			})
		if err != nil {
			return err
		}
		if err := addPackages(filepath.Join(dir, "list"), suffix, suite, list); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("InRelease names no %s/binary-amd64/Packages.xz, .gz or unpacked", component)
}

func addPackages(file, suffix, suite string, list map[string]Package) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, closer, err := decompress(suffix, f)
	if err != nil {
		return err
	}
	defer closer()
	return readParagraphs(plain, func(fields paragraph) error {
		p, err := packageOf(fields)
		if err != nil {
			return err
		}
		p.Suite = suite
		if have, ok := list[p.Name]; !ok || compareVersions(p.Version, have.Version) > 0 {
			list[p.Name] = p
		}
		return nil
	})
}
