package ipxe

import (
	"flag"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	pxetest.UpdateFlag()
	flag.Parse()
	os.Exit(m.Run())
}

func machine() net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1} }

const failed = "http://10.77.0.1:8088/boot/x/failed"

func ramdisk(cmdline string) Boot {
	return Boot{
		MAC: machine(), Kernel: "http://10.77.0.1:8088/boot/x/kernel", Initrd: "http://10.77.0.1:8088/boot/x/initrd",
		Cmdline: cmdline, Failed: failed,
	}
}

func TestScriptGolden(t *testing.T) {
	for name, cmdline := range map[string]string{
		"plain":   "console=ttyS0,115200 quiet",
		"empty":   "",
		"awkward": `a="b c" #hash || && ; $HOME c:\d {}  end`,
	} {
		text, err := Script(ramdisk(cmdline))
		if err != nil {
			t.Fatal(err)
		}
		pxetest.Golden(t, name+".ipxe", text)
	}
	with := ramdisk("quiet")
	with.Overlay = "http://10.77.0.1:8088/boot/x/overlay"
	text, err := Script(with)
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Golden(t, "overlay.ipxe", text)
	text, err = ImageScript(machine(), "http://10.77.0.1/live.iso", failed)
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Golden(t, "image.ipxe", text)
	pxetest.Golden(t, "exit.ipxe", Exit(machine()))
}

func TestImageScriptRefuses(t *testing.T) {
	for _, u := range []string{"", "/images/live.iso", "http://h/${x}", "ftp://h/live.iso",
		"http://root:hunter2@h/live.iso", "http://token@h/live.iso", "http://root:hunter2@h/\x7f"} {
		if text, err := ImageScript(machine(), u, failed); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v\n%s", u, err, text)
		}
	}
}

// TestSignedURLIsNotShown: iPXE needs it, the console does not.
func TestSignedURLIsNotShown(t *testing.T) {
	text, err := ImageScript(machine(), "http://h/live.iso?sig=hunter2", failed)
	if err != nil || !strings.Contains(text, "sanboot http://h/live.iso?sig=hunter2 ") {
		t.Errorf("%v\n%s", err, text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "echo") && strings.Contains(line, "hunter2") {
			t.Errorf("the console shows %s", line)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	for name, b := range map[string]Boot{
		"an expansion":         ramdisk("root=${net0/ip}"),
		"a new line":           ramdisk("quiet\nshell"),
		"a carriage return":    ramdisk("quiet\rshell"),
		"a last backslash":     ramdisk(`quiet \`),
		"a local path":         {Kernel: "/boot/vmlinuz", Initrd: "http://h/i", Failed: failed},
		"no initrd":            {Kernel: "http://h/k", Failed: failed},
		"a URL with a blank":   {Kernel: "http://h/k x", Initrd: "http://h/i", Failed: failed},
		"a URL that expands":   {Kernel: "http://h/k", Initrd: "http://h/${x}", Failed: failed},
		"nobody to tell":       {Kernel: "http://h/k", Initrd: "http://h/i"},
		"a URL with a newline": {Kernel: "http://h/k\nshell", Initrd: "http://h/i", Failed: failed},
	} {
		if text, err := Script(b); err == nil {
			t.Errorf("%s: no error but\n%s", name, text)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// FuzzScript checks that no command line can add a line to the script, and
// that iPXE, as far as it is modelled here, passes the words on unchanged.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{"console=ttyS0 quiet", "a || b", "#x", "x ;", `x\`, "${x}", "$", "\u2028 x"} {
		f.Add(seed)
	}
	lines := strings.Count(mustScript(f, ""), "\n")
	f.Fuzz(func(t *testing.T, cmdline string) {
		text, err := Script(ramdisk(cmdline))
		if err != nil {
			return
		}
		if got := strings.Count(text, "\n"); got != lines {
			t.Fatalf("%d lines instead of %d:\n%s", got, lines, text)
		}
		_, line, _ := strings.Cut(text, "initrd=initrd")
		line, _, _ = strings.Cut(line, " || goto failed\n")
		var words []string
		for _, w := range strings.Fields(line) {
			if w == "||" || w == "&&" || w == ";" || w[0] == '#' {
				t.Fatalf("iPXE takes %q as its own in %q", w, line)
			}
			words = append(words, strings.ReplaceAll(w, "${}", ""))
		}
		if diff := cmp.Diff(strings.Fields(cmdline), words); diff != "" && len(words) > 0 {
			t.Error(diff)
		}
	})
}

func mustScript(t testing.TB, cmdline string) string {
	t.Helper()
	text, err := Script(ramdisk(cmdline))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
