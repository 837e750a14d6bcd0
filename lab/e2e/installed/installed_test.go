//go:build packagestest

package installed

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/images/iso"
	"github.com/ferrite-metal/ferrite/lab/e2e/guest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/suitetest"
)

//go:embed testdata/checks.sh
var checks []byte

// limit is for the whole life of the machine, under emulation: its watchdog alone takes a minute.
const limit = 25 * time.Minute

// card is the machine's network card; its address is where the boot service is set up.
const card = "52:54:00:77:00:01"

// wanted are the checks of checks.sh, in their order.
var wanted = strings.Fields("install node printed state user capabilities setup boot key exposure killed frozen " +
	"restarted stopped replaced purged")

// TestSystemd: installed in a Debian with systemd, the service runs as the unit says, is set up, comes back when it is
// killed or frozen, and is purged.
func TestSystemd(t *testing.T) {
	suitetest.Need(t, "packages-test")
	dir := t.TempDir()
	wire := filepath.Join(dir, "wire")
	neighbour, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: wire, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Close()
	go func() { // drops the card's packets: a full socket would stop the card
		for packet := make([]byte, 65536); ; {
			if _, err := neighbour.Read(packet); err != nil {
				return
			}
		}
	}()
	m := guest.Debian(t, qemu.Spec{Name: "installed", NICs: []qemu.NIC{{MAC: card, Wire: wire}},
		Disks: []qemu.Disk{{Path: drive(t, dir)}}})
	output, input := io.Pipe()
	defer input.Close()
	stop := m.Serial().Watch(func(data []byte) {
		if len(data) > 0 { // a reader gives up after some reads of nothing
			_, _ = input.Write(data)
		}
	})
	defer stop()
	if err := m.Reset(t.Context(), qemu.ResetOn); err != nil {
		t.Fatal(err)
	}
	over := time.AfterFunc(limit, func() { input.CloseWithError(fmt.Errorf("no end within %s", limit)) })
	defer over.Stop()
	seen, said := results(t, output)
	for i, name := range wanted {
		if i >= len(seen) || seen[i] != "ok "+name {
			t.Fatalf("check %s: found %q\n%s", name, seen[min(i, len(seen)):], said)
		}
	}
	fmt.Println("systemd: ok", strings.Join(said, ", "))
}

// results are the checks that the machine prints, without and with their figures.
func results(t *testing.T, console io.Reader) (seen, said []string) {
	t.Helper()
	lines := bufio.NewScanner(console)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		t.Log(line)
		_, result, found := strings.Cut(line, "check: ")
		words := strings.Fields(result)
		switch {
		case !found:
		case result == "end":
			return seen, said
		case len(words) > 1:
			seen = append(seen, words[0]+" "+words[1])
			if words[0] == "failed" || len(words) > 2 {
				said = append(said, strings.Join(words[1:], " "))
			}
		}
	}
	t.Errorf("the machine has not come to an end: %v", lines.Err())
	return seen, said
}

// drive makes a config drive with the script, the package, and Debian's boot loaders.
func drive(t *testing.T, dir string) (path string) {
	t.Helper()
	fetch := exec.CommandContext(t.Context(), "apt-get", "download", "-q", "ipxe")
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("apt-get download ipxe: %v\n%s", err, out)
	}
	files := map[string]iso.Content{
		"ferrite.deb": file(t, "../../../bin/packages/ferrite_*_amd64.deb"),
		"ipxe.deb":    file(t, filepath.Join(dir, "ipxe_*.deb")),

		"openstack/latest/user_data": iso.Bytes(checks),
		"openstack/latest/meta_data.json": iso.Text(`{"uuid": "5bd31d1f-6c0a-4a6c-9b0e-6e1f8d0f3a77",
			"hostname": "conductor"}`),
		"openstack/latest/network_data.json": iso.Text(`{"links": [{"id": "l", "type": "phy",
			"ethernet_mac_address": "` + card + `"}], "networks": [{"id": "n", "link": "l", "type": "ipv4",
			"ip_address": "10.77.0.1", "netmask": "255.255.255.0"}], "services": []}`),
	}
	image, err := iso.New(iso.Volume{Label: "config-2", Files: files})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "drive.iso")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, io.NewSectionReader(image, 0, image.Size())); err != nil {
		t.Fatal(err)
	}
	return path
}

// file is the one file of a pattern.
func file(t *testing.T, pattern string) iso.Content {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: expected one file, found %v, %v: run `make packages`", pattern, found, err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return iso.Content{At: f, Size: info.Size()}
}
