package logbook

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Kernel gives the kernel's log.
type Kernel interface {
	KernelLog() ([]byte, error)
}

// states are the files of the running kernel for the search for a failure.
func states() []string {
	return []string{
		"proc/cmdline", "proc/self/status", "proc/mounts", "proc/partitions", "proc/meminfo", "proc/modules", "proc/cpuinfo",
		"proc/net/route", "proc/net/if_inet6", "proc/mdstat", "proc/uptime", "proc/loadavg", "proc/iomem", "etc/resolv.conf",
	}
}

// maxState bounds the bytes of one file.
const maxState = 256 << 10

// Collect gathers the agent's and the kernel's log, the addresses and the machine's
// state as base64 of a tar.gz. A file that cannot be read is named in its place: an
// incomplete bundle is better than none. Tree, if any, holds the files that the
// inventory was made from.
func Collect(book *Book, kernel Kernel, root fs.FS, tree []byte, now time.Time) (string, error) {
	files := map[string][]byte{"agent.log": book.Tail(), "ip-addr": []byte(addresses())}
	if tree != nil {
		files["inventory.tree"] = tree
	}
	klog, err := kernel.KernelLog()
	if err != nil {
		klog = append(klog, fmt.Sprintf("\n(not whole: %v)\n", err)...)
	}
	files["dmesg"] = klog
	for _, name := range states() {
		b, err := readSome(root, name)
		if err != nil {
			b = fmt.Appendf(nil, "(%v)\n", err)
		}
		files[strings.ReplaceAll(name, "/", "-")] = b
	}
	for name, b := range files {
		files[name] = hideTokens(b)
	}
	b, err := bundle(files, now)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// readSome reads the beginning of a file.
func readSome(root fs.FS, name string) ([]byte, error) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	return b[:min(len(b), maxState)], nil
}

// hideTokens blanks the agent token and the boot's one-time token where the kernel line is quoted: the
// kernel prints it into its own log too.
func hideTokens(b []byte) []byte {
	for _, key := range []string{"ipa-agent-token=", agentapi.BootWordParameter + "="} {
		parts := bytes.Split(b, []byte(key))
		for i := 1; i < len(parts); i++ {
			end := bytes.IndexAny(parts[i], " \t\n\"&")
			if end < 0 {
				end = len(parts[i])
			}
			parts[i] = append([]byte("******"), parts[i][end:]...)
		}
		b = bytes.Join(parts, []byte(key))
	}
	return b
}

// addresses lists the interfaces with their addresses, one per line.
func addresses() string {
	var out strings.Builder
	all, err := net.Interfaces()
	if err != nil {
		return fmt.Sprintf("(%v)\n", err)
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			fmt.Fprintf(&out, "%s (%v)\n", i.Name, err)
			continue
		}
		fmt.Fprintf(&out, "%d: %s %s %s mtu %d %v\n", i.Index, i.Name, i.HardwareAddr, i.Flags, i.MTU, addrs)
	}
	return out.String()
}
