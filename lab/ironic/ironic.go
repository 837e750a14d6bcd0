package ironic

import (
	"context"
	_ "embed"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"

	"github.com/ferrite-metal/ferrite/lab"
)

// bootPort is where the boot service's HTTP listens, on the bridge's address.
const bootPort = 8088

//go:embed ironic.conf
var configText string

// Ironic is where one Ironic keeps its things.
type Ironic struct {
	Dir     string // all of it is below
	Root    string // files that machines fetch over HTTP: boot script, kernel, ramdisk
	Address netip.Addr
	Port    int // of the API
	lab     *lab.Lab
}

// New is an Ironic that is to keep its things in dir and to serve its API on a
// port of the lab's bridge. Nothing is made yet.
func New(l *lab.Lab, dir string, port int) *Ironic {
	return &Ironic{Dir: dir, Root: filepath.Join(dir, "http"), Address: l.Network.Gateway, Port: port, lab: l}
}

// URL is the API's base, inside the lab's network.
func (i *Ironic) URL() string { return fmt.Sprintf("http://%s:%d", i.Address, i.Port) }

// BootURL is the base of the files that machines fetch, inside the lab's network.
func (i *Ironic) BootURL() string { return fmt.Sprintf("http://%s:%d", i.Address, bootPort) }

// Command writes the configuration and an empty database, and returns the command to start in the lab's network. It
// writes no file outside of Dir.
func (i *Ironic) Command(ctx context.Context) (*exec.Cmd, error) {
	for _, name := range []string{"", "tmp", "http", "tftp/master", "images/master", "locks", "certificates",
		"deploy-logs"} {
		if err := os.MkdirAll(filepath.Join(i.Dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("ironic: %w", err)
		}
	}
	config, err := i.configure()
	if err != nil {
		return nil, fmt.Errorf("ironic: %w", err)
	}
	create := i.tool(exec.CommandContext(ctx, "ironic-dbsync", "--config-file", config, "create_schema"))
	if out, err := create.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ironic-dbsync (Debian packages ironic-api and ironic-conductor are needed): %w: %s", err, out)
	}
	return i.tool(exec.Command("ironic", "--config-file", config)), nil
}

func (i *Ironic) configure() (path string, err error) {
	t, err := template.New("ironic.conf").Parse(configText)
	if err != nil {
		return "", err
	}
	path = filepath.Join(i.Dir, "ironic.conf")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return path, t.Execute(f, i)
}

// tool gives a program of Ironic's its home, and a place for temporary files, in our folder.
func (i *Ironic) tool(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(os.Environ(), "HOME="+i.Dir, "TMPDIR="+filepath.Join(i.Dir, "tmp"))
	cmd.Dir = i.Dir
	return cmd
}
