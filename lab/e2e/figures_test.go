package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// figures are the results of the measured cases.
type figures struct {
	mu              sync.Mutex
	uefi, bios      time.Duration // power-on to first heartbeat
	booted          time.Duration // enroll to a booted OS
	starts          int           // of the firmware meanwhile
	ramdisk, kernel float64       // MB

	inspect, clean, deploy, undeploy time.Duration // under Ironic

	ways   map[string]time.Duration // power-on to the first that is heard of the ramdisk, by way of booting
	static int                      // boots from a medium with static addresses

	kills         int           // of leaders
	worst         time.Duration // without a leader
	lives, living int           // of machines with a killed leader: begun, and come to their own OS
}

// bootWays are the ways of booting with a figure, in the order of the figures' line.
var bootWays = []string{"relay", "proxy", "dhcp-off", "vmedia-uefi", "vmedia-bios"}

func (f *figures) setWay(name string, d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ways == nil {
		f.ways = map[string]time.Duration{}
	}
	f.ways[name] = d
}

// bootedStatic counts a boot from a medium with static addresses.
func (f *figures) bootedStatic() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.static++
}

func (f *figures) sizes(kernel, initrd string) error {
	for path, mb := range map[string]*float64{kernel: &f.kernel, initrd: &f.ramdisk} {
		st, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("ramdisk: %w", err)
		}
		*mb = float64(st.Size()) / megabyte
	}
	return nil
}

func (f *figures) set(d *time.Duration, v time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*d = v
}

func (f *figures) setStarts(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts = n
}

// tookOver counts a kill of a leader, and the time until another one answered.
func (f *figures) tookOver(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kills++
	f.worst = max(f.worst, d)
}

// survived counts a machine with a killed leader, and whether it came to its own OS.
func (f *figures) survived(booted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lives++
	if booted {
		f.living++
	}
}

// lines are the figures of the measured cases that have passed, a line for each kind of run.
func (f *figures) lines() (lines []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uefi > 0 && f.bios > 0 {
		lines = append(lines, fmt.Sprintf(
			"e2e: ok uefi-heartbeat %.1f s, bios-heartbeat %.1f s, enroll-to-booted %.1f s, "+
				"firmware-starts %d, ramdisk %.1f MB, kernel %.1f MB",
			f.uefi.Seconds(), f.bios.Seconds(), f.booted.Seconds(), f.starts, f.ramdisk, f.kernel))
	}
	if f.undeploy > 0 {
		lines = append(lines, fmt.Sprintf("interop: ok inspect %.1f s, clean %.1f s, deploy %.1f s, undeploy %.1f s",
			f.inspect.Seconds(), f.clean.Seconds(), f.deploy.Seconds(), f.undeploy.Seconds()))
	}
	if f.kills > 0 {
		lines = append(lines, fmt.Sprintf("takeover: ok %d kills, worst %.1f s, booted %d of %d", f.kills, f.worst.Seconds(),
			f.living, f.lives))
	}
	var ways []string
	for _, name := range bootWays {
		if d, ok := f.ways[name]; ok {
			ways = append(ways, fmt.Sprintf("%s %.1f s", name, d.Seconds()))
		}
	}
	if f.static > 0 {
		all := len(staticNetworks) * len(bothFirmwares) * bootsOfNetwork
		ways = append(ways, fmt.Sprintf("vmedia-static %d of %d", f.static, all))
	}
	if len(ways) > 0 {
		lines = append(lines, "boot-ways: ok "+strings.Join(ways, ", "))
	}
	return lines
}
