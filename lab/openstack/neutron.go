package openstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Neutron is Debian's package neutron-server without Keystone: whoever asks is an administrator. Its networks are VLANs
// of the physical network physnet1; no agent and no switch is there, so a port of a machine is binding_failed.
type Neutron struct {
	URL string
	dir string
	cmd *exec.Cmd
}

// StartNeutron makes a Neutron in a folder, and starts it. It takes some ten seconds, half of them for the tables.
func StartNeutron(ctx context.Context, dir string) (*Neutron, error) {
	if _, err := os.Stat("/usr/bin/neutron-server"); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("/usr/bin/neutron-server is missing: install Debian's package neutron-server")
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	n := &Neutron{URL: "http://" + address, dir: dir}
	if err := n.configure(address); err != nil {
		return nil, err
	}
	// The migrations of Debian's package change constraints, which SQLite cannot; its models make the same tables.
	const tables = `import sys, sqlalchemy
from neutron.db.migration.models import head
engine = sqlalchemy.create_engine("sqlite:///" + sys.argv[1])
head.get_metadata().create_all(engine)
with engine.connect() as c: c.exec_driver_sql("PRAGMA journal_mode=WAL")
`
	cmd := n.command(ctx, "python3", "-c", tables, filepath.Join(dir, "neutron.sqlite"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("tables of Neutron: %w\n%s", err, out)
	}
	return n, n.start(ctx)
}

func (n *Neutron) config() string { return filepath.Join(n.dir, "neutron.conf") }

func (n *Neutron) configure(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("configure Neutron: %w", err)
	}
	text := fmt.Sprintf(`[DEFAULT]
log_file = %[1]s/neutron.log
state_path = %[1]s
bind_host = %[2]s
bind_port = %[3]s
core_plugin = ml2
service_plugins =
auth_strategy = noauth
api_workers = 0
rpc_workers = 0
rpc_state_report_workers = 0
transport_url = fake://
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
[database]
connection = sqlite:///%[1]s/neutron.sqlite
[oslo_concurrency]
lock_path = %[1]s
[quotas]
quota_port = -1
quota_network = -1
[ml2]
type_drivers = vlan
tenant_network_types = vlan
mechanism_drivers = openvswitch
extension_drivers =
[ml2_type_vlan]
network_vlan_ranges = physnet1:100:200
`, n.dir, host, port)
	if err := os.WriteFile(n.config(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("configure Neutron: %w", err)
	}
	return nil
}

// command is a program of Debian's. It ends when the test is killed.
func (n *Neutron) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join("/usr/bin", name), args...) //nolint:gosec // Debian's own
	cmd.Dir, cmd.Env = n.dir, []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + n.dir, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (n *Neutron) start(ctx context.Context) error {
	log, err := os.Create(filepath.Join(n.dir, "server.log"))
	if err != nil {
		return fmt.Errorf("start Neutron: %w", err)
	}
	defer log.Close()
	n.cmd = n.command(context.WithoutCancel(ctx), "neutron-server", "--config-file", n.config())
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("start Neutron: %w", err)
	}
	for end := time.Now().Add(startTime); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(n.URL + "/v2.0/networks") //nolint:noctx // bounded by the loop
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		if time.Now().After(end) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("no Neutron answers at %s: %w\n%s", n.URL, err, text), n.Stop())
		}
	}
}

// Stop ends it; its folder stays.
func (n *Neutron) Stop() error {
	if n.cmd == nil || n.cmd.Process == nil {
		return nil
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop Neutron: %w", err)
	}
	_ = n.cmd.Wait() // it was killed
	n.cmd = nil
	return nil
}
