//go:build packagestest

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serviceUser stands for the user that systemd makes up for DynamicUser.
const serviceUser = 64321

// cacheFolder stands for the temporary folder that systemd removes with the service (PrivateTmp).
const cacheFolder = "XDG_CACHE_HOME=/var/cache/ferrite-test"

// servicePath is systemd's, with the programs that lead into the root.
const servicePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// service is a running service of a root without systemd: with the user, group, capabilities, credentials and state
// folder of its unit, in a network of its own that has a loopback and nothing else.
type service struct {
	root    string
	network *exec.Cmd
	main    *exec.Cmd
	log     bytes.Buffer
}

func startService(t *testing.T, root string) *service {
	t.Helper()
	unit := unitOf(t, root)
	s := &service{root: root}
	s.network = exec.CommandContext(t.Context(), "unshare", "--net", "--", "sleep", "600")
	if err := s.network.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.network.Process.Kill(), s.network.Wait() })
	for i := 0; s.sameNetwork(t); i++ { // until unshare has made the namespace
		if i > 1000 {
			t.Fatal("no network of its own")
		}
		time.Sleep(10 * time.Millisecond)
	}
	command(t, append([]string{"nsenter"}, s.in("ip", "link", "set", "lo", "up")...)...)
	state := filepath.Join(root, "var/lib", unit["StateDirectory"])
	credentials := filepath.Join(root, "run/credentials/ferrite.service")
	for _, dir := range []string{state, credentials} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, serviceUser, serviceUser); err != nil {
			t.Fatal(err)
		}
	}
	command(t, "chroot", root, "id", "-u") // the root can run programs
	group := strings.Split(strings.TrimSpace(command(t, "chroot", root, "getent", "group",
		unit["SupplementaryGroups"])), ":")
	user := strconv.Itoa(serviceUser)
	named := strings.NewReplacer("CAP_", "", " ", ",+").Replace(unit["AmbientCapabilities"])
	caps := "+" + strings.ToLower(named)
	args := append([]string{"chroot", root, "setpriv", "--reuid", user, "--regid", user, "--groups", group[2],
		"--inh-caps", caps, "--ambient-caps", caps, "--bounding-set", "-all," + caps, "--no-new-privs", "--"},
		strings.Fields(unit["ExecStart"])...)
	s.main = exec.CommandContext(t.Context(), "nsenter", s.in(args...)...)
	s.main.Env = []string{servicePath, cacheFolder, "CREDENTIALS_DIRECTORY=/run/credentials/ferrite.service"}
	s.main.Stderr = &s.log
	if err := s.main.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// sameNetwork reports whether the service still has the test's namespace.
func (s *service) sameNetwork(t *testing.T) bool {
	t.Helper()
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(s.network.Process.Pid) + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return ours == theirs
}

// in are the arguments of nsenter for a program in the service's network.
func (s *service) in(args ...string) []string {
	return append([]string{"--net", "--target", strconv.Itoa(s.network.Process.Pid), "--"}, args...)
}

// answers reports whether the API does.
func (s *service) answers(t *testing.T) bool {
	t.Helper()
	return exec.CommandContext(t.Context(), "nsenter",
		s.in("curl", "-sf", "-o", "/dev/null", "http://127.0.0.1:6385/v1")...).Run() == nil
}

// client runs the installed client as the admin.
func (s *service) client(t *testing.T, password string, succeeds bool, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "nsenter", s.in(append([]string{"chroot", s.root, programPath}, args...)...)...)
	c.Env = []string{servicePath, cacheFolder, "FERRITE_USER=admin", "FERRITE_PASSWORD=" + password}
	if out, err := c.CombinedOutput(); (err == nil) != succeeds {
		t.Errorf("ferrite %s: %v, success expected: %v\n%s%s", strings.Join(args, " "), err, succeeds, out, s.log.String())
	}
}

// stop ends the service as systemd does.
func (s *service) stop(t *testing.T) {
	t.Helper()
	if err := s.main.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.main.Wait(); err != nil {
		t.Errorf("the service ends with %v\n%s", err, s.log.String())
	}
	if err := os.RemoveAll(filepath.Join(s.root, "run/credentials")); err != nil {
		t.Error(err)
	}
}

// unitOf reads the installed unit; of a setting with several lines the last counts.
func unitOf(t *testing.T, root string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/ferrite.service"))
	if err != nil {
		t.Fatal(err)
	}
	unit := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			unit[key] = value
		}
	}
	return unit
}
