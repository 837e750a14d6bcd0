package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/server"
	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
	"github.com/pin/tftp/v3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func machine1() net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1} }

// config is a service on loopback. Its boot loaders hold their own names, and machine 1's kernel and ramdisk likewise.
func config(t *testing.T) (server.Config, *pxetest.Booter) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(loader.Files(), "vmlinuz", "initrd") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	booter := &pxetest.Booter{}
	booter.Set(machine1(),
		pxe.Boot{Action: pxe.Ramdisk, Kernel: filepath.Join(dir, "vmlinuz"), Initrd: filepath.Join(dir, "initrd")})
	at := netip.MustParseAddr("127.0.77.3")
	return server.Config{
		Address: at, LoaderDir: dir, HTTPAddr: netip.AddrPortFrom(at, 0),
		Subnets: []dhcp.Subnet{{Prefix: netip.MustParsePrefix("127.0.77.0/24"),
			First: netip.MustParseAddr("127.0.77.100"), Last: netip.MustParseAddr("127.0.77.110")}},
		Booter: booter, Leases: &pxetest.Leases{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		DHCPPort: 6767, TFTPPort: 6969,
		Extra: map[string]http.Handler{"/deploy/": http.NotFoundHandler()},
	}, booter
}

func start(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	s, err := server.Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, s.Serve)
	return s
}

// dhcpFile asks as a client of the given class, architecture and extra
// options does, and returns the server and the file the answer names.
func dhcpFile(t *testing.T, s *server.Server, class string, arch iana.Arch,
	more ...dhcpv4.Modifier) (next, file string) {
	t.Helper()
	offer := pxetest.Offer(t, s.DHCPAddr(), machine1(),
		append(more, dhcpv4.WithOption(dhcpv4.OptClassIdentifier(class)), dhcpv4.WithOption(dhcpv4.OptClientArch(arch)))...)
	return offer.ServerIPAddr.String(), offer.BootFileNameOption()
}

func get(t *testing.T, url string) string {
	t.Helper()
	machine := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 77, 100)}} // the address that DHCP offers it
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: machine.DialContext},
		Timeout: time.Minute}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", url, resp.Status, b)
	}
	return string(b)
}

// fetch gets the file that a DHCP answer named, by the protocol of its name.
func fetch(t *testing.T, s *server.Server, next, file string) string {
	t.Helper()
	if strings.HasPrefix(file, "http://") {
		return get(t, file)
	}
	c, err := tftp.NewClient(net.JoinHostPort(next, fmt.Sprint(s.TFTPAddr().Port())))
	if err != nil {
		t.Fatal(err)
	}
	wt, err := c.Receive(file, "octet")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := wt.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestContract binds the halves of the boot together: every file that DHCP names to any kind of client is served, and
// every file in iPXE's script, too.
func TestContract(t *testing.T) {
	c, booter := config(t)
	s := start(t, c)
	ipxe := dhcpv4.WithGeneric(dhcpv4.OptionEtherboot, []byte{1, 1, 1})
	for _, tc := range []struct {
		name, class string
		arch        iana.Arch
		more        []dhcpv4.Modifier
		want        string // beginning of the answer
	}{
		{"bios", "PXEClient:Arch:00000:UNDI:002001", iana.INTEL_X86PC, nil, "undionly.kpxe"},
		{"uefi", "PXEClient:Arch:00007:UNDI:003016", iana.EFI_X86_64, nil, "snponly.efi"},
		{"uefi that says 9", "PXEClient:Arch:00009:UNDI:003016", iana.EFI_BC, nil, "snponly.efi"},
		{"uefi http", "HTTPClient:Arch:00016:UNDI:003001", iana.EFI_X86_64_HTTP, nil, "snponly.efi"},
		{"ipxe on bios", "PXEClient:Arch:00000:UNDI:002001", iana.INTEL_X86PC, []dhcpv4.Modifier{ipxe}, "#!ipxe\n"},
		{"ipxe on uefi", "PXEClient:Arch:00007:UNDI:003010", iana.EFI_X86_64, []dhcpv4.Modifier{ipxe}, "#!ipxe\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next, file := dhcpFile(t, s, tc.class, tc.arch, tc.more...)
			if file == "" {
				t.Fatal("the answer names no file")
			}
			if got := fetch(t, s, next, file); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s is %q, want %q", file, got, tc.want)
			}
		})
	}
	_, script := dhcpFile(t, s, "PXEClient", iana.INTEL_X86PC, ipxe)
	got := map[string]string{}
	for line := range strings.Lines(get(t, script)) {
		words := strings.Fields(line)
		if len(words) > 3 && (words[0] == "kernel" || words[0] == "initrd") {
			got[words[0]] = get(t, words[3])
		}
	}
	if diff := cmp.Diff(map[string]string{"kernel": "vmlinuz", "initrd": "initrd"}, got); diff != "" {
		t.Errorf("what the script names: %s", diff)
	}
	last := booter.Stages()[len(booter.Stages())-1]
	if last.Stage != pxe.StageRamdisk || last.Client.MAC.String() != machine1().String() {
		t.Errorf("last stage %+v", last)
	}
}

func TestListenErrors(t *testing.T) {
	good, _ := config(t)
	s := start(t, good)
	taken := netip.MustParseAddrPort(strings.TrimPrefix(s.URL(), "http://"))
	for name, tc := range map[string]struct {
		change func(*server.Config)
		want   []string
	}{
		"dhcp port taken": {func(*server.Config) {}, []string{"dhcp", "UDP port 6767", "ss -lnp", "stop it"}},
		"tftp port taken": {func(c *server.Config) { c.DHCPPort = 6768 }, []string{"tftp", "UDP port 6969"}},
		"http port taken": {
			func(c *server.Config) { c.HTTPAddr = taken }, []string{"boot http", fmt.Sprintf("TCP port %d", taken.Port())},
		},
		"no address": {func(c *server.Config) { c.Address = netip.Addr{} }, []string{"expected the IPv4 address"}},
		"no subnet":  {func(c *server.Config) { c.Subnets = nil }, []string{"no subnet"}},
		"no boot loaders": {
			func(c *server.Config) { c.LoaderDir = t.TempDir() }, []string{"undionly.kpxe", "install Debian's package ipxe"},
		},
	} {
		c := good
		tc.change(&c)
		s, err := server.Listen(t.Context(), c)
		if err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close() // it should not be there at all
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
	}
}

// TestListenLeavesNothing opens the same ports twice after a failure at the last of them.
func TestListenLeavesNothing(t *testing.T) {
	c, _ := config(t)
	blocker, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(c.Address, c.TFTPPort)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Listen(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	if err := blocker.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, c)
}
