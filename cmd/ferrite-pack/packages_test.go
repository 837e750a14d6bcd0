//go:build packagestest

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// packed is the folder that `make packages` fills.
const packed = "../../bin/packages"

// ready is how long a service may take from the end of its installation to an answering API.
const ready = 5 * time.Second

// TestPackages: the .deb, installed in a fresh Debian, answers on the loopback within seconds, lets in the admin that
// it has shown, and leaves nothing but data when it is purged. The .rpm and the image hold the same program. It needs
// root, and a mirror of Debian for debootstrap.
func TestPackages(t *testing.T) {
	suitetest.Need(t, "packages-test")
	deb, rpm := only(t, "ferrite_*_amd64.deb"), only(t, "ferrite-*.x86_64.rpm")
	unit := "files/ferrite.service"
	exposure := command(t, "systemd-analyze", "security", "--offline=true", "--no-pager", unit)
	level := regexp.MustCompile(`exposure level for ferrite.service: ([0-9.]+)`).FindStringSubmatch(exposure)
	if level == nil {
		t.Fatalf("systemd-analyze security: %s", exposure)
	}
	if exposed, err := strconv.ParseFloat(level[1], 64); err != nil || exposed > 2.0 {
		t.Errorf("exposure %s, expected 2.0 or less", level[1])
	}

	root := freshDebian(t)
	before := listed(t, root)
	took := installAndRun(t, root, deb)
	said := isolated(t, root, "apt-get", "purge", "-y", "-qq", "ferrite")
	if stays := "/var/lib/ferrite stays (records of machines, with sealed passwords)"; !strings.Contains(said, stays) {
		t.Errorf("the purge does not say that %s:\n%s", stays, said)
	}
	for _, path := range listed(t, root) {
		if !slices.Contains(before, path) && path != "/var/lib/ferrite" && !strings.HasPrefix(path, "/var/lib/ferrite/") {
			t.Errorf("purged, but left: %s", path)
		}
	}
	groups, err := os.ReadFile(filepath.Join(root, "etc/group"))
	if err != nil || bytes.Contains(groups, []byte("ferrite")) {
		t.Errorf("the group is left: %v", err)
	}
	sameInRPM(t, rpm, root)
	sameInImage(t)
	sizes := fmt.Sprintf("deb %s, rpm %s, tar %s, image of both %s", size(t, deb), size(t, rpm),
		size(t, only(t, "ferrite-*-linux-amd64.tar.gz")), size(t, only(t, "ferrite-*-oci.tar")))
	sameTwice(t)
	if !t.Failed() {
		fmt.Printf("packages: ok %s; installed and answering in %.1f s, exposure %s\n", sizes, took.Seconds(), level[1])
	}
}

// freshDebian is a system with the smallest set of debootstrap's packages.
func freshDebian(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	command(t, "unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "--", "debootstrap",
		"--variant=minbase", "bookworm", root)
	t.Logf("debootstrap: %s", time.Since(began).Round(time.Second))
	return root
}

// isolated runs a program of a root in namespaces that end with it; it has no network.
func isolated(t *testing.T, root string, args ...string) string {
	t.Helper()
	return command(t, append([]string{"unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc",
		"--root", root, "--"}, args...)...)
}

// installAndRun installs a package and runs its service as systemd would. It returns how long that took from the start
// of the installation until the API answered.
func installAndRun(t *testing.T, root, deb string) time.Duration {
	t.Helper()
	text, err := os.ReadFile(deb)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "tmp/ferrite.deb"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	said := isolated(t, root, "apt-get", "install", "-y", "-qq", "/tmp/ferrite.deb")
	installed := time.Since(began)
	shown := regexp.MustCompile(`user admin, password (\S+) `).FindStringSubmatch(said)
	if shown == nil {
		t.Fatalf("the installation shows no admin:\n%s", said)
	}
	if err := os.Remove(filepath.Join(root, "tmp/ferrite.deb")); err != nil {
		t.Fatal(err)
	}
	s := startService(t, root)
	for !s.answers(t) {
		if time.Since(began) > time.Minute {
			t.Fatalf("the API does not answer: %s", s.log.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	t.Logf("installed in %s, answering after %s", installed.Round(time.Millisecond), took.Round(time.Millisecond))
	if took-installed > ready {
		t.Errorf("answering %s after the installation, expected %s", took-installed, ready)
	}
	s.client(t, shown[1], true, "node", "list")
	s.client(t, "wrong", false, "node", "list")
	s.client(t, shown[1], true, "node", "create", "--name", "first", "--driver", "manual-management")
	s.stop(t)
	return took
}

func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(packed, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: expected one, found %v, %v: run `make packages`", pattern, found, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func size(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
}

// command runs a program and returns its output.
func command(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	// dpkg need not sync every file of a root that is thrown away.
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "DPKG_FORCE=unsafe-io")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// listed are the files of a root that no package manager keeps for itself.
func listed(t *testing.T, root string) (paths []string) {
	t.Helper()
	own := []string{"/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/etc/group-", "/etc/gshadow-"}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		rest := strings.TrimPrefix(path, root)
		if !slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(rest, o) }) {
			paths = append(paths, rest)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// sameInRPM installs the .rpm with Debian's rpm, without its scripts, and compares the program.
func sameInRPM(t *testing.T, rpm, notIn string) {
	t.Helper()
	files := command(t, "rpm", "-qpl", rpm)
	for _, want := range []string{programPath, "/usr/lib/systemd/system/ferrite.service",
		"/usr/share/man/man1/ferrite.1.gz", "/usr/share/zsh/site-functions/_ferrite", docFolder + "ferrite.spdx.json"} {
		if !slices.Contains(strings.Fields(files), want) {
			t.Errorf("no %s in the rpm:\n%s", want, files)
		}
	}
	if needs := command(t, "rpm", "-qp", "--requires", rpm); !strings.Contains(needs, "shadow-utils") {
		t.Errorf("the rpm requires:\n%s", needs)
	}
	root := t.TempDir()
	command(t, "rpm", "--root", root, "--initdb")
	command(t, "rpm", "--root", root, "-i", "--nodeps", "--noscripts", rpm)
	same(t, filepath.Join(root, programPath))
}

// sameInImage unpacks the image with skopeo, and compares the program.
func sameInImage(t *testing.T) {
	t.Helper()
	from := "oci-archive:" + only(t, "ferrite-*-oci.tar")
	for _, arch := range architectures {
		about := command(t, "skopeo", "inspect", "--override-arch", arch, from)
		if !strings.Contains(about, `"Architecture": "`+arch+`"`) {
			t.Errorf("image for %s: %s", arch, about)
		}
	}
	dir := t.TempDir()
	command(t, "skopeo", "copy", "--override-arch", runtime.GOARCH, from, "dir:"+dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 10e6 {
			command(t, "tar", "-C", dir, "-xzf", filepath.Join(dir, e.Name()))
		}
	}
	same(t, filepath.Join(dir, programPath))
}

// same compares a file with the program that was packed.
func same(t *testing.T, path string) {
	t.Helper()
	command(t, "cmp", path, filepath.Join(packed, "programs", runtime.GOARCH, "ferrite"))
}

// sameTwice packs again, and compares every byte; the programs are linked again from another folder.
func sameTwice(t *testing.T) {
	t.Helper()
	again := t.TempDir()
	tool, err := filepath.Glob(filepath.Join(os.Getenv("FERRITE_CACHE"), "bin/nfpm-*"))
	if err != nil || len(tool) == 0 {
		t.Fatalf("no nfpm: %v", err)
	}
	t.Chdir("../..")
	for _, arch := range architectures {
		t.Setenv("GOARCH", arch)
		command(t, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", "bundled", "-o",
			filepath.Join(again, "programs", arch, "ferrite"), "./cmd/ferrite")
	}
	t.Setenv("GOARCH", runtime.GOARCH)
	command(t, "go", "run", "./cmd/ferrite-pack", "--nfpm", tool[0], "--out", again, "--programs",
		filepath.Join(again, "programs"))
	command(t, "cmp", filepath.Join(again, sumsFile), filepath.Join("bin/packages", sumsFile))
}
