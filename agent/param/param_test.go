package param

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const pin = "0040de5ff03cd922df2e921525181f05d388f985ca4de8f26b2e16541f115e03"

func TestParse(t *testing.T) {
	tests := map[string]struct {
		line string
		want func(*Params)
	}{
		"nothing": {"", func(*Params) {}},
		"as a conductor writes it": {
			"initrd=r selinux=0 nofb vga=normal ipa-api-url=https://10.0.0.1:6385/,http://10.0.0.2:6385 " +
				"BOOTIF=52:54:00:77:00:06 ipa-debug=1 ipa-global-request-id=req-1 " +
				"ferrite-api-sha256=" + pin + "," + strings.Repeat("0A", 32),
			func(p *Params) {
				p.APIURLs = []string{"https://10.0.0.1:6385", "http://10.0.0.2:6385"}
				p.BootIF, p.BootMAC = "52:54:00:77:00:06", "52:54:00:77:00:06"
				p.Debug, p.RequestID = true, "req-1"
				p.APIPins = [][]byte{
					[]byte(
						"\x00\x40\xde\x5f\xf0\x3c\xd9\x22\xdf\x2e\x92\x15\x25\x18\x1f\x05\xd3\x88\xf9\x85\xca\x4d\xe8\xf2\x6b\x2e\x16\x54\x1f\x11\x5e\x03"),
					bytes.Repeat([]byte{10}, 32),
				}
			},
		},
		"Ironic's virtual media":  {"boot_method=vmedia", func(p *Params) { p.VirtualMedia = true }},
		"Ferrite's virtual media": {"boot_method=vmedia ferrite.media=0", func(*Params) {}},
		"managed inspection": {
			"ipa-inspection-callback-url=http://h/v1/continue_inspection ipa-inspection-collectors=default,pci-devices " +
				"BOOTIF=01-52-54-00-AA-00-06",
			func(p *Params) {
				p.InspectionURLs = []string{"http://h/v1/continue_inspection"}
				p.Collectors = []string{"default", "pci-devices"}
				p.BootIF, p.BootMAC = "01-52-54-00-AA-00-06", "52:54:00:aa:00:06"
			},
		},
		"collectors alone mean the API's own path": {
			"ipa-api-url=http://h:1 ipa-inspection-collectors=default",
			func(p *Params) {
				p.APIURLs, p.Collectors = []string{"http://h:1"}, []string{"default"}
				p.InspectionURLs = []string{"http://h:1/v1/continue_inspection"}
			},
		},
		"patience": {
			"ipa-lookup-timeout=30 ipa-lookup-interval=2 ipa-image-download-connection-retries=0 " +
				"ipa-image-download-connection-timeout=5 ipa-image-download-connection-retry-interval=1 " +
				"ipa-image-download-max-duration=60 ipa-disk-wait-attempts=1 ipa-disk-wait-delay=4 ipa-inject-files-priority=70 " +
				"ipa-collect-lldp=1 ipa-lldp-timeout=1.5 ipa-inspection-dhcp-wait-timeout=7 " +
				"ipa-inspection-dhcp-all-interfaces=true",
			func(p *Params) {
				p.LookupTimeout, p.LookupInterval = 30*time.Second, 2*time.Second
				p.Download = Download{ConnectTimeout: 5 * time.Second, RetryInterval: time.Second, MaxDuration: time.Minute}
				p.CollectLLDP, p.LLDPTimeout = true, 1500*time.Millisecond
				p.InjectFilesPriority = 70
				p.DiskAttempts, p.DiskDelay, p.DHCPWait, p.DHCPWaitAll = 1, 4*time.Second, 7*time.Second, true
			},
		},
		"modules": {
			"e1000e.IntMode=1 snd-hda.a=2 snd_hda.b=3 modprobe.blacklist=x,y ferrite.shell=1",
			func(p *Params) {
				p.ModuleOptions = map[string]string{"e1000e": "IntMode=1", "snd_hda": "a=2 b=3"}
				p.Blacklist, p.Shell = []string{"x", "y"}, ShellAtOnce
			},
		},
		"no shell":             {"ferrite.shell=0", func(p *Params) { p.Shell = ShellNever }},
		"the last word counts": {"ipa-debug=1 ipa-debug=0", func(*Params) {}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			tc.want(&want)
			got, problems, err := Parse(tc.line)
			if err != nil || problems != nil {
				t.Fatalf("problems %v, error %v", problems, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	p, problems, err := Parse("ipa-lookup-timeout=soon BOOTIF=eth0 ipa-debug=maybe ipa-disk-wait-attempts=-1 " +
		"ipa-lldp-timeout=NaN")
	if err != nil || len(problems) != 5 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	if p.LookupTimeout != 600*time.Second || p.BootIF != "eth0" || p.BootMAC != "" {
		t.Errorf("params %+v", p)
	}
	for _, line := range []string{"ipa-api-url=mdns", "ipa-api-url=ftp://x", "ferrite-api-sha256=12",
		"ferrite-api-sha256=", "ferrite-api-sha256=" + pin + ",", "ipa-inspection-callback-url=:"} {
		if _, _, err := Parse(line); err == nil || !strings.Contains(err.Error(), "kernel parameter") {
			t.Errorf("%s: error %v", line, err)
		}
	}
}

// TestShellStaysShut: with any other errors on the line, the shell stays shut when the line says so, and when its
// setting is unreadable.
func TestShellStaysShut(t *testing.T) {
	for line, want := range map[string]Shell{
		"ipa-api-url=mdns ferrite.shell=off": ShellNever, "ferrite.shell=off ipa-api-url=mdns": ShellNever,
		"ipa-api-url=mdns": ShellByImage, "ferrite.shell=enter": ShellOnEnter,
		"ferrite.shell=perhaps": ShellNever, "ferrite.shell=1 ferrite.shell=no": ShellNever, "ferrite.shell=": ShellNever,
	} {
		if p, _, _ := Parse(line); p.Shell != want {
			t.Errorf("%s: %d, want %d", line, p.Shell, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ipa-api-url=http://h BOOTIF=01-52-54-00-77-00-06 ipa-agent-token=x a.b=c ferrite-api-sha256=" + pin)
	f.Add("= =x x= .= a.=b .b=c BOOTIF= ipa-api-url=,")
	f.Fuzz(func(t *testing.T, line string) {
		p, _, err := Parse(line)
		if err != nil {
			return
		}
		if p.LookupTimeout < 0 || slices.ContainsFunc(p.APIPins, func(pin []byte) bool { return len(pin) != 32 }) {
			t.Errorf("params %+v", p)
		}
	})
}
