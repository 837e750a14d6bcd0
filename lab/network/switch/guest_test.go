//go:build networks

package netswitch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

// The MAC addresses of the guest's two cards.
const left, right = "52:54:00:07:00:01", "52:54:00:07:00:02"

// TestNetworkGuests: a ramdisk reaches a conductor over networks that a bridge and DHCP cannot
// give: each case is a machine with two cards at a switch.
func TestNetworkGuests(t *testing.T) {
	suitetest.Need(t, "")
	const names = "ifname=left:" + left + " ifname=right:" + right + " "
	bundle := func(delay time.Duration) []Port {
		return []Port{{Name: "left", Tagged: []int{100}, Group: 1, Delay: delay},
			{Name: "right", Tagged: []int{100}, Group: 1, Delay: delay}}
	}
	for name, tc := range map[string]struct {
		ports  []Port
		line   string
		api    string // of the conductor
		from   string // the guest's address
		bundle []string
	}{
		"lacp": {bundle(10 * time.Second), names +
			"bond=bond0:left,right:mode=802.3ad,miimon=100,lacp_rate=fast,xmit_hash_policy=layer3+4 " +
			"vlan=bond0.100:bond0 ip=10.7.0.9::10.7.0.1:255.255.255.0::bond0.100:none",
			"10.99.0.1:6385", "10.7.0.9", []string{"left", "right"}},
		"active-backup-ipv6": {[]Port{{Name: "left", Tagged: []int{100}}, {Name: "right", Tagged: []int{100}}}, names +
			"bond=bond0:left,right:mode=active-backup,miimon=100 vlan=bond0.100:bond0 " +
			"ip=[fd00:7::9]::[fd00:7::1]:64::bond0.100:none",
			"[fd00:99::1]:6385", "fd00:7::9", nil},
	} {
		t.Run(name, func(t *testing.T) {
			uplink, calls := conductor(t, tc.api)
			g := boot(t, tc.ports, uplink, "ipa-api-url=http://"+tc.api+" "+tc.line)
			asked := g.wait(t, calls)
			if asked.from != tc.from {
				t.Errorf("the lookup came from %s, want %s", asked.from, tc.from)
			}
			macs := strings.Split(asked.query.Get("addresses"), ",")
			slices.Sort(macs)
			if !slices.Equal(macs, []string{left, right}) {
				t.Errorf("the lookup names %v, want the cards' own addresses", macs)
			}
			if got := g.running.Bundled(1); !slices.Equal(got, tc.bundle) {
				t.Errorf("ports in the aggregate: %v, want %v", got, tc.bundle)
			}
			t.Logf("lookup from %s after %.1f s, aggregate of %v", asked.from, time.Since(g.began).Seconds(), tc.bundle)
		})
	}
}

// TestNetworkGuestsMisconfigured: a ramdisk names the fault in its static addresses, and uses the second router where
// the first is dead.
func TestNetworkGuestsMisconfigured(t *testing.T) {
	const names = "ifname=left:" + left + " ifname=right:" + right + " "
	for name, tc := range map[string]struct {
		line    string
		says    string
		reaches bool
	}{
		"wrong-router": {"vlan=left.100:left ip=10.7.0.9::10.7.0.2:255.255.255.0::left.100:none",
			"while 10.7.0.1 of the same network answers: wrong router address", false},
		"wrong-vlan": {"vlan=left.101:left ip=10.7.0.9::10.7.0.1:255.255.255.0::left.101:none",
			"but it is heard in VLAN 100: wrong VLAN", false},
		"first-router-dead": {"vlan=left.100:left ip=10.7.0.9::10.7.0.2:255.255.255.0::left.100:none " +
			"rd.route=0.0.0.0/0:10.7.0.1:left.100", "router does not answer; another one is used", true},
	} {
		t.Run(name, func(t *testing.T) {
			uplink, calls := conductor(t, "10.99.0.1:6385")
			g := boot(t, []Port{{Name: "left", Tagged: []int{100}}, {Name: "right", Access: 7}}, uplink,
				"ipa-api-url=http://10.99.0.1:6385 "+names+tc.line)
			if tc.reaches {
				if asked := g.wait(t, calls); asked.from != "10.7.0.9" {
					t.Errorf("the lookup came from %s", asked.from)
				}
			}
			for end := time.Now().Add(2 * time.Minute); !strings.Contains(g.console.String(), tc.says); {
				if time.Now().After(end) {
					t.Fatalf("the console does not say %q:\n%s", tc.says, g.console)
				}
				time.Sleep(time.Second)
			}
			if !tc.reaches && len(calls) > 0 {
				t.Error("a lookup came")
			}
			t.Logf("%q after %.1f s", tc.says, time.Since(g.began).Seconds())
		})
	}
}

// lookup is a request that reached the conductor.
type lookup struct {
	from  string
	query url.Values
}

// conductor is an HTTP server behind a tap, in a network namespace that lasts as long as
// they do: the router of VLAN 100, and behind it an address of its own.
func conductor(t *testing.T, api string) (uplink io.ReadWriteCloser, calls <-chan lookup) {
	t.Helper()
	var listener net.Listener
	var noise net.Conn
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine, in its namespace
		failed <- func() (err error) {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("a network namespace (are you root?): %w", err)
			}
			if uplink, err = Tap("uplink"); err != nil {
				return err
			}
			for name, addresses := range map[string][]string{
				"lo": {"10.99.0.1/32", "fd00:99::1/128"}, "uplink": {"10.7.0.1/24", "fd00:7::1/64"}} {
				if err := address(name, addresses); err != nil {
					return err
				}
			}
			// An unused address: the kernel asks for it by ARP, as routers do all the time.
			if noise, err = new(net.Dialer).DialContext(t.Context(), "udp", "10.7.0.77:9"); err != nil {
				return err
			}
			listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", api)
			return err
		}()
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the test
		for t.Context().Err() == nil {
			_, _ = noise.Write([]byte("?")) // to an unused address
			time.Sleep(time.Second)
		}
		_ = noise.Close()
	}()
	found := make(chan lookup, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			if strings.HasSuffix(r.URL.Path, "/lookup") {
				select {
				case found <- lookup{host, r.URL.Query()}:
				default:
				}
			}
			if r.URL.Path != "/" {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, `{"default_version": {"id": "v1", "version": "1.109"}}`)
		})}
	go server.Serve(listener)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return uplink, found
}

func address(name string, addresses []string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	for _, a := range addresses {
		parsed, err := netlink.ParseAddr(a)
		if err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
		if err := netlink.AddrAdd(l, parsed); err != nil {
			return fmt.Errorf("address %s of %s: %w", a, name, err)
		}
	}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("switch %s on: %w", name, err)
	}
	return nil
}

// guest is a machine at a switch.
type guest struct {
	running *Running
	console *console
	began   time.Time
	ended   <-chan struct{} // closed when the machine is off
}

// console keeps a machine's output.
type console struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// boot starts the ramdisk in a machine with cards at these ports; the uplink is the switch's last, in VLAN 100.
func boot(t *testing.T, ports []Port, uplink io.ReadWriteCloser, line string) guest {
	t.Helper()
	dir, images := t.TempDir(), os.Getenv("FERRITE_RAMDISK")
	if images == "" {
		images = filepath.Join("..", "..", "..", "bin", "ramdisk")
	}
	args := []string{"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "q35",
		"-accel", "tcg,thread=multi", "-cpu", "qemu64,+rdrand", "-m", "512", "-serial", "stdio",
		"-kernel", filepath.Join(images, "lab.vmlinuz"), "-initrd", filepath.Join(images, "lab.initramfs"),
		"-append", "console=ttyS0 ipa-debug=1 " + line}
	var wires []io.ReadWriteCloser
	for i, m := range []string{left, right} {
		own, peer := filepath.Join(dir, fmt.Sprintf("s%d", i)), filepath.Join(dir, fmt.Sprintf("g%d", i))
		w, err := Datagrams(own, peer)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
		args = append(args, "-netdev",
			fmt.Sprintf("dgram,id=n%d,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s", i, peer, own),
			// A bond leaves a card of unknown speed alone.
			"-device", fmt.Sprintf("virtio-net-pci,netdev=n%d,mac=%s,romfile=,speed=1000,duplex=full", i, m))
	}
	core, err := New(append(slices.Clone(ports), Port{Name: "uplink", Access: 100}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	g := guest{running: Run(ctx, core, append(wires, uplink), slog.New(slog.NewTextHandler(t.Output(), nil))),
		console: &console{}, began: time.Now()}
	qemu := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	qemu.Stdout, qemu.Stderr = g.console, g.console
	qemu.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	g.ended = ended
	go func() { // ends with the machine
		defer close(ended)
		_ = qemu.Wait() // it is killed in the end
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		g.running.Wait()
	})
	return g
}

// wait waits for the lookup, and shows the console where none comes.
func (g guest) wait(t *testing.T, calls <-chan lookup) lookup {
	t.Helper()
	select {
	case l := <-calls:
		return l
	case <-g.ended:
	case <-time.After(2 * time.Minute):
	}
	t.Fatalf("no lookup within two minutes; the aggregate has %v; the console:\n%s", g.running.Bundled(1), g.console)
	return lookup{}
}
