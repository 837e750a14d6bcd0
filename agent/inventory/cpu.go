package inventory

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// CPU takes the processors together, from /proc/cpuinfo.
func CPU(fsys fs.FS, machine string) agentapi.CPU {
	c := agentapi.CPU{Architecture: machine, Flags: []string{}}
	sockets := map[string]bool{}
	mhz := ""
	for line := range strings.Lines(text(fsys, "proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			c.Count++
		case "model name", "cpu model": // x86, others
			c.ModelName = value
		case "cpu MHz":
			mhz = value
		case "physical id":
			sockets[value] = true
		case "flags", "Features": // x86, ARM
			if len(c.Flags) == 0 {
				c.Flags = strings.Fields(value)
			}
		}
	}
	if len(sockets) == 0 { // only x86 has them in cpuinfo
		for _, n := range numbered(fsys, "sys/devices/system/cpu", "cpu") {
			if id := text(fsys, "sys/devices/system/cpu", "cpu"+strconv.Itoa(n), "topology/physical_package_id"); id != "" {
				sockets[id] = true
			}
		}
	}
	c.SocketCount = max(len(sockets), min(c.Count, 1))
	c.Frequency = frequency(fsys, mhz)
	return c
}

// frequency prefers the processor's maximum over its present value.
func frequency(fsys fs.FS, now string) string {
	if khz := number(fsys, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); khz > 0 {
		return strconv.FormatFloat(float64(khz)/1000, 'f', 4, 64)
	}
	return now
}
