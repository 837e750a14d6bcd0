// Package ipxe writes iPXE scripts: to boot a kernel and a ramdisk, to boot an ISO, and to hand the machine back to
// its firmware.
//
// It is pure text: it opens no files, asks no policy, and knows only the addresses that it is given.
package ipxe

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// initrdName is the ramdisk's name inside iPXE. Under UEFI the kernel finds it only by initrd=NAME on its command
// line.
const initrdName = "initrd"

// overlayName is the same for the archive before it. Linux's EFI stub joins all that
// initrd= names; the images of a BIOS are joined by iPXE.
const overlayName = "overlay"

// How often and how far apart a download is tried: long enough for the boot service to
// be restarted.
const (
	attempts = 10
	waitSec  = 3
)

// Boot holds the parameters of Script.
type Boot struct {
	MAC     net.HardwareAddr // for the greeting only
	Kernel  string           // http(s) URL
	Initrd  string           // http(s) URL
	Overlay string           // http(s) URL of an archive that goes before Initrd; "" for none
	Cmdline string           // kernel command line, without initrd=
	Failed  string           // http(s) URL that gets ?error= with iPXE's number on failure
}

// Script boots b. It repeats failed downloads, and prints the failure on the console. It returns an error for values
// that iPXE cannot express.
func Script(b Boot) (string, error) {
	args, err := escape(b.Cmdline)
	if err != nil {
		return "", err
	}
	urls := []string{b.Kernel, b.Initrd, b.Failed}
	overlay, first := "", ""
	if b.Overlay != "" {
		urls = append(urls, b.Overlay)
		overlay = fmt.Sprintf("initrd --name %s %s || goto failed\n", overlayName, b.Overlay)
		first = " initrd=" + overlayName
	}
	for _, u := range urls {
		if err := checkURL(u); err != nil {
			return "", err
		}
	}
	return retrying("booting the ramdisk on "+b.MAC.String(), fmt.Sprintf(`imgfree
kernel --name kernel %[1]s%[5]s initrd=%[2]s%[3]s || goto failed
%[6]sinitrd --name %[2]s %[4]s || goto failed
boot || goto failed`, b.Kernel, initrdName, args, b.Initrd, first, overlay), b.MAC, b.Kernel, b.Failed), nil
}

// ImageScript boots the ISO or disk image at u, which iPXE attaches as a disk and reads over
// the network (sanboot); failed is called as Boot.Failed is.
func ImageScript(mac net.HardwareAddr, u, failed string) (string, error) {
	for _, u := range []string{u, failed} {
		if err := checkURL(u); err != nil {
			return "", err
		}
	}
	return retrying(fmt.Sprintf("booting the image %s on %s", shown(u), mac), fmt.Sprintf("sanboot %s || goto failed", u),
		mac, u, failed), nil
}

// retrying writes a script that repeats a command until it works, for as long as the server behind from may take to
// come back. It reports the first failure to failed with iPXE's number for it, which is also the page on ipxe.org.
func retrying(what, do string, mac net.HardwareAddr, from, failed string) string {
	return fmt.Sprintf(`#!ipxe
echo Ferrite: %[1]s
set tries:int32 0
:attempt
%[2]s
:failed
set why ${errno:hexraw}
inc tries
iseq ${tries} 1 && imgfetch --name report %[7]s?error=${why} ||
iseq ${tries} %[3]d && goto giveup ||
echo Ferrite: the boot failed, see the error above; next try in %[4]d seconds
sleep %[4]d
goto attempt
:giveup
echo Ferrite: %[5]s did not boot after %[3]d tries. Is the server at %[6]s up?
exit 1
`, what, do, attempts, waitSec, mac, shown(from), failed)
}

// Start finds the script of the machine that runs it, below the URL base, by the MAC address of the
// card it booted from.
func Start(base string) (string, error) {
	if err := checkURL(base); err != nil {
		return "", err
	}
	return fmt.Sprintf(`#!ipxe
chain %s/ipxe/${netX/mac:hexhyp} || goto none
:none
echo Ferrite: no boot script for ${netX/mac}, trying the next device
exit 1
`, base), nil
}

// Exit hands the machine back to its firmware. It exits with an error: after
// a success UEFI firmware stops at its menu, after an error it goes on to
// the next boot device.
func Exit(mac net.HardwareAddr) string {
	return fmt.Sprintf(`#!ipxe
echo Ferrite: no network boot for %s, trying the next device
exit 1
`, mac)
}

// escape writes a command line so that iPXE passes its words on unchanged,
// each with a space before it. iPXE splits at blanks (runs of them become one), takes
// "#..." for a comment and "||", "&&", ";" for operators; an empty expansion in front hides
// those. Nothing hides "${": iPXE expands until none is left.
func escape(cmdline string) (string, error) {
	if strings.Contains(cmdline, "${") {
		return "", fmt.Errorf("kernel command line: iPXE would expand \"${\" in %q: write it without", around(cmdline, "${"))
	}
	if strings.ContainsFunc(cmdline, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errors.New("the kernel command line holds a control character: take it out")
	}
	if strings.HasSuffix(cmdline, `\`) {
		return "",
			errors.New("the kernel command line ends in a backslash, which would join it to the script's next line: take it out")
	}
	var out strings.Builder
	for word := range strings.FieldsSeq(cmdline) {
		out.WriteByte(' ')
		if strings.HasPrefix(word, "#") || word == "||" || word == "&&" || word == ";" {
			out.WriteString("${}")
		}
		out.WriteString(word)
	}
	return out.String(), nil
}

// around is the word of a command line that holds text. The whole line is quoted
// nowhere: it may hold secrets.
func around(cmdline, text string) string {
	for word := range strings.FieldsSeq(cmdline) {
		if strings.Contains(word, text) {
			return word
		}
	}
	return text
}

// shown is a URL as the console shows it: without its query, which may be signed.
func shown(u string) string {
	bare, _, _ := strings.Cut(u, "?")
	return bare
}

func checkURL(u string) error {
	p, err := url.Parse(u)
	if err != nil {
		return fmt.Errorf("boot file URL: %w", errors.Unwrap(err)) // without the URL itself
	}
	if p.User != nil {
		return fmt.Errorf("boot file URL at %s holds a user or password, which the machine's console would show: serve the "+
			"file without", p.Host)
	}
	if (p.Scheme != "http" && p.Scheme != "https") || p.Host == "" || strings.ContainsAny(u, " ${}\\") {
		return fmt.Errorf("boot file URL %q: expected a plain http or https URL", u)
	}
	return nil
}
