package debian

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// Apt is the archive of this host's apt, with its sources, its keys and its proxy. apt verifies its downloads. Nothing
// is installed, no root needed. It is for one goroutine.
type Apt struct {
	lists map[string]map[string]Package // by suite, by name: the version that apt would install
}

// HasApt says whether this host has apt.
func HasApt() bool { return buildcache.HasTool("apt-get") && buildcache.HasTool("apt-cache") }

// Find implements Archive. The list is read at once: apt-cache needs a second for each call.
func (a *Apt) Find(ctx context.Context, name, suite string) (Package, error) {
	list, ok := a.lists[suite]
	if !ok {
		var err error
		if list, err = readAptList(ctx, suite); err != nil {
			return Package{}, fmt.Errorf("package %s: %w", name, err)
		}
		if a.lists == nil {
			a.lists = map[string]map[string]Package{}
		}
		a.lists[suite] = list
	}
	found, ok := list[name]
	if !ok {
		return Package{}, fmt.Errorf("package %s: %w in apt's lists: run `apt-get update` as root and try again", name,
			ErrNoPackage)
	}
	return found, nil
}

func readAptList(ctx context.Context, suite string) (map[string]Package, error) {
	args := []string{"dumpavail"}
	if suite != "" {
		args = append(args, "-o", "APT::Default-Release="+suite)
	}
	out, err := buildcache.Tool{Name: "apt-cache", Package: "apt", Args: args}.Run(ctx)
	if err != nil && strings.Contains(err.Error(), "APT::Default-Release") {
		return nil, fmt.Errorf("apt has no suite %s: add it to /etc/apt/sources.list as in `deb %s %s main`, run "+
			"`apt-get update` as root and try again: %w", suite, PublicMirror, suite, err)
	}
	if err != nil {
		return nil, err
	}
	list := map[string]Package{}
	err = readParagraphs(strings.NewReader(out), func(fields paragraph) error {
		// Packages that are installed and in no source have neither file nor hash.
		if p, err := packageOf(fields); err == nil {
			list[p.Name] = p
		}
		return nil
	})
	return list, err
}

// Missing implements Archive: the line to add.
func (*Apt) Missing() string {
	return fmt.Sprintf("apt has no source with component %s: add `deb %s %s %s` to /etc/apt/sources.list, run "+
		"`apt-get update` "+
		"as root and try again", firmwareComponent, PublicMirror, codename("/etc/os-release"), firmwareComponent)
}

// codename is the codename of the Debian this host runs.
func codename(file string) string {
	const unknown = "bookworm"
	f, err := os.Open(file)
	if err != nil {
		return unknown
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "VERSION_CODENAME="); ok {
			return strings.Trim(name, `"`)
		}
	}
	return unknown
}

// Fetch implements Archive.
func (*Apt) Fetch(ctx context.Context, p Package, folder string) (string, error) {
	dir, err := os.MkdirTemp(folder, "apt-")
	if err != nil {
		return "", err
	}
	// Run as root, apt would download as user _apt, which may not write into our folder.
	args := []string{"download", "-q", "-o", "APT::Sandbox::User=root", p.Name + "=" + p.Version}
	if _, err := (buildcache.Tool{Name: "apt-get", Package: "apt", Args: args, Dir: dir}).Run(ctx); err != nil {
		return "", fmt.Errorf("package %s: %w", p.Name, fetchError(err))
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(debs) != 1 {
		return "", errors.Join(fmt.Errorf("apt-get download of %s left %d .deb files, expected 1", p.Name, len(debs)), err)
	}
	found, err := buildcache.HashFile(debs[0])
	if err == nil && found != p.SHA256 {
		err = fmt.Errorf("expected SHA-256 %s, found %s: run `apt-get update` as root and try again", p.SHA256, found)
	}
	if err != nil {
		return "", fmt.Errorf("package %s: %w", p.Name, err)
	}
	to := filepath.Join(folder, p.Name+".deb")
	return to, errors.Join(os.Rename(debs[0], to), os.Remove(dir))
}

// unfetched is apt's last word on a file: its URL and the cause. Before it, apt says the same in other forms.
var unfetched = regexp.MustCompile(`E: Failed to fetch (\S+)\s+([^;]+)`)

// notFetched is a file that apt could not get.
type notFetched struct{ url, cause string }

func (e notFetched) Error() string {
	return fmt.Sprintf("apt could not fetch %s\n  cause: %s\n  try: connect this host to the archive of packages, or "+
		"build on a host that has it; a build whose packages are cached needs no network", e.url, e.cause)
}

// fetchError is the error of an apt that could not fetch a file, with each fact once; other errors stay.
func fetchError(err error) error {
	if m := unfetched.FindStringSubmatch(err.Error()); m != nil {
		return notFetched{m[1], strings.TrimSpace(m[2])}
	}
	return err
}
