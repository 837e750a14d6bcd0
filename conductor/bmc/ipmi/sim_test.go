package ipmi_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/ipmitest"
)

// sim is a BMC: OpenIPMI's ipmi_sim. Its chassis is a shell script that keeps power and boot device in files.
type sim struct {
	*ipmitest.Sim
	dir    string
	serial string // line of lan.conf for serial over LAN, "" for none
	extra  string // further lines of the machine
}

const (
	simUser     = ipmitest.User
	simPassword = ipmitest.Password
)

// The simulator calls it as "get <name>..." and "set <name> <value>...".
const simChassis = `#!/bin/sh
cd '%s' || exit 1
op=$1
shift
if [ "$op" = get ]; then
	for name; do echo "$name:$(cat "$name")"; done
	exit
fi
while [ $# -gt 0 ]; do
	echo "$1 $2" >> pressed
	case $1 in
	power | boot) echo "$2" > "$1" ;;
	shutdown) echo 0 > power ;;
	esac
	shift 2
done
`

// newSim starts a BMC with a machine that is off.
func newSim(t *testing.T) *sim { return newSimWith(t, "") }

// newSimWith adds a line to the BMC's configuration.
func newSimWith(t *testing.T, serial string) *sim {
	t.Helper()
	return startSim(t, &sim{serial: serial})
}

// startSim starts a BMC as it is filled in.
func startSim(t *testing.T, s *sim) *sim {
	t.Helper()
	s.dir = t.TempDir()
	for name, content := range map[string]string{
		"chassis": fmt.Sprintf(simChassis, s.dir), "power": "0", "boot": "none", "pressed": "",
	} {
		if err := os.WriteFile(s.path(name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.Sim = ipmitest.Start(t, fmt.Sprintf("  chassis_control %q\n%s", s.path("chassis"), s.serial), s.extra)
	return s
}

func (s *sim) path(name string) string { return filepath.Join(s.dir, name) }

// read reads one of the chassis's files.
func (s *sim) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// node is a node of this BMC, with settings by key and value.
func (s *sim) node(settings ...any) node.Node {
	return nodeAt(s.Port, simUser, simPassword, settings...)
}

func nodeAt(port int, user, password string, settings ...any) node.Node {
	info := map[string]any{
		"ipmi_address": "127.0.0.1", "ipmi_port": port, "ipmi_username": user, "ipmi_password": password,
	}
	for i := 0; i < len(settings); i += 2 {
		info[settings[i].(string)] = settings[i+1]
	}
	return node.Node{UUID: "4e6ab7a7-7a37-4d5c-8f3d-6f0c5a1f9d11", DriverInfo: info}
}

// ipmitool asks the BMC with the program Ironic uses.
func (s *sim) ipmitool(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ipmitool", append([]string{
		"-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-U", simUser, "-E",
	}, args...)...)
	cmd.Env = append(os.Environ(), "IPMI_PASSWORD="+simPassword)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("ipmitool %v: %v (Debian package ipmitool is needed):\n%s", args, err, out)
	}
	return string(out)
}
