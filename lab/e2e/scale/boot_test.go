//go:build e2e

package scale

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	booting    = flag.Int("booting", 30, "how many machines ask for all of a network boot at once; at most 1,000")
	kernelSize = flag.Int64("kernel-size", 1_000_000, "bytes of the kernel; that of the profile metal has 8,200,000")
	initrdSize = flag.Int64("ramdisk-size", 2_000_000, "bytes of the ramdisk; that of the profile metal has 27,700,000")
)

// bootTogether is how long the slowest of them may take.
const bootTogether = 10 * time.Minute

// TestE2EScaleBoot: machines boot at the same moment as their firmware does, with real packets: an address, the loader
// by TFTP, an address once more for iPXE, the boot script, the kernel and the ramdisk. All are served.
func TestE2EScaleBoot(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"kernel": *kernelSize, "initrd": *initrdSize} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte{0x90}, int(size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newCluster(t, nil, "--boot", "--boot-interface", bootLink, "--boot-address", "10.64.0.1/16",
		"--discovery", "redfish", "--discovery-limit", fmt.Sprint(*booting+1),
		"--ramdisk-kernel", filepath.Join(dir, "kernel"), "--ramdisk-initrd", filepath.Join(dir, "initrd"))
	r := newRoom(t)
	c.start()
	l, err := newLeases(r)
	if err != nil {
		t.Fatal(err)
	}
	defer l.conn.Close()
	leader := c.leader()
	leader.Signal(syscall.SIGUSR1)
	used, began := c.usage(), time.Now()
	all := &boots{room: r, leases: l}
	var done sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), bootTogether)
	defer cancel()
	for nth := range *booting {
		done.Go(func() {
			if err := all.boot(ctx, nth, began); err != nil {
				t.Errorf("machine %d: %v\n%s", nth, err, seen(c, leader, nth))
			}
		})
	}
	done.Wait()
	took := time.Since(began)
	leader.Signal(syscall.SIGUSR1)
	fmt.Printf("scale: %d machines ask at once: all served after %.1f s, %.0f MB/s, %d DHCP requests repeated\n", *booting,
		took.Seconds(), float64(all.bytes)/1e6/took.Seconds(), l.again)
	for i, stage := range bootStages {
		fmt.Printf("scale: %-19s half of them after %.1f s, all after %.1f s\n", stage, all.at[i].of(0.5)/1e3,
			all.at[i].of(1)/1e3)
	}
	fmt.Printf("scale: processors: %s; %s leads\n", c.usage().since(used, took), leader.Name)
	fmt.Printf("scale: %s has %.0f MiB\n", leader.Name, leader.memory())
	if l.again > 0 {
		t.Logf("log of %s:\n%s", leader.Name, leader.Tail())
	}
	c.top(leader)
	c.stop()
}

// seen is the conductor's record of a machine on the boot network.
func seen(c *cluster, m *member, nth int) string {
	a, err := c.http.Get(m.url() + "/ferrite/v1/boot/watch?since=10m&mac=" + macOf(nth))
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(a.Body)
	if err = errors.Join(err, a.Body.Close()); err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-3000):])
}

// bootStages are the answers to a machine, one after the other.
var bootStages = [...]string{"an address", "the loader by TFTP", "an address for iPXE", "the script", "the kernel",
	"the ramdisk"}

// boots are the boots of all machines.
type boots struct {
	*room
	leases *leases
	mu     sync.Mutex
	at     [len(bootStages)]times // since all began
	bytes  int64
}

func (b *boots) reached(stage int, began time.Time, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at[stage] = append(b.at[stage], time.Since(began))
	b.bytes += bytes
}

// boot is the network boot of one machine.
func (b *boots) boot(ctx context.Context, nth int, began time.Time) error {
	from, file, server, err := b.lent(ctx, nth, false)
	if err != nil {
		return err
	}
	b.reached(0, began, 0)
	if err := b.address(from); err != nil {
		return err
	}
	size, err := b.fetchTFTP(ctx, from, server, file)
	if err != nil {
		return fmt.Errorf("%s by TFTP: %w", file, err)
	}
	b.reached(1, began, size)
	again, file, _, err := b.lent(ctx, nth, true)
	if err != nil {
		return err
	}
	if again != from {
		return fmt.Errorf("iPXE gets %v, its firmware got %v", again, from)
	}
	b.reached(2, began, 0)
	transport := &http.Transport{DialContext: b.dial(from)}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	script, err := fetch(ctx, client, file, nil)
	if err != nil {
		return err
	}
	b.reached(3, began, int64(len(script)))
	for i, f := range []struct {
		word string
		size int64
	}{{"kernel", *kernelSize}, {"initrd", *initrdSize}} {
		url, err := urlIn(string(script), f.word)
		if err != nil {
			return err
		}
		var size counter
		if _, err := fetch(ctx, client, url, &size); err != nil {
			return err
		}
		if int64(size) != f.size {
			return fmt.Errorf("%s has %d bytes, expected %d", f.word, size, f.size)
		}
		b.reached(4+i, began, int64(size))
	}
	return nil
}

// lent is the address and the boot file of a machine, and the server that has the file.
func (b *boots) lent(ctx context.Context, nth int, iPXE bool) (from netip.Addr, file string, at netip.Addr, err error) {
	ack, err := b.leases.lend(ctx, nth, iPXE)
	if err != nil {
		return from, "", at, err
	}
	from, lent := netip.AddrFromSlice(ack.YourIPAddr.To4())
	at, served := netip.AddrFromSlice(ack.ServerIPAddr.To4())
	file = cmp.Or(strings.TrimRight(ack.BootFileName, "\x00"), ack.BootFileNameOption())
	if !lent || !served || file == "" {
		err = fmt.Errorf("expected an address and a boot file, found %s", ack.Summary())
	}
	return from, file, at, err
}

// counter counts bytes.
type counter int64

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// urlIn is the address that the first line of a script names which begins with a word.
func urlIn(script, word string) (string, error) {
	for line := range strings.Lines(script) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == word {
			for _, f := range fields {
				if strings.HasPrefix(f, "http://") {
					return f, nil
				}
			}
		}
	}
	return "", fmt.Errorf("the script names no %s:\n%s", word, script)
}

// fetch fetches a file as iPXE does: ten tries, 3 s apart. The content goes to a writer; without one it is returned.
func fetch(ctx context.Context, client *http.Client, url string, to io.Writer) (content []byte, err error) {
	var last error
	for range 10 {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		a, err := client.Do(q)
		if err == nil && a.StatusCode == http.StatusOK {
			if to == nil {
				content, err = io.ReadAll(a.Body)
			} else {
				_, err = io.Copy(to, a.Body)
			}
			return content, errors.Join(err, a.Body.Close())
		}
		if last = err; err == nil {
			last = errors.Join(fmt.Errorf("%s answers %s", url, a.Status), a.Body.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(last, ctx.Err())
		case <-time.After(3 * time.Second):
		}
	}
	return nil, fmt.Errorf("%s: tried ten times: %w", url, last)
}
