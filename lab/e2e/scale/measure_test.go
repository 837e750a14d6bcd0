//go:build e2e

package scale

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is the CPU time of processes so far.
type usage map[string]time.Duration

// usage of conductors, of PostgreSQL and of this process, which simulates machines.
func (c *cluster) usage() usage {
	c.t.Helper()
	all := usage{"simulators": c.cpu(os.Getpid(), false)}
	for _, m := range c.members {
		if !m.Gone() {
			all[m.Name] = c.cpu(m.PID(), false)
		}
	}
	postgres := c.server.PID()
	all["postgres"] = c.cpu(postgres, true)
	for _, child := range childrenOf(postgres) {
		all["postgres"] += c.cpu(child, false)
	}
	return all
}

// since is the use since then, as parts of a processor.
func (u usage) since(before usage, took time.Duration) string {
	var out []string
	for name, used := range u {
		out = append(out, fmt.Sprintf("%s %.2f", name, (used-before[name]).Seconds()/took.Seconds()))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// cpu is the CPU time of a process; with ended it includes the children that have ended.
func (c *cluster) cpu(pid int, ended bool) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // a process that has just ended
	}
	// proc(5): the name may hold spaces and brackets; utime, stime, cutime and cstime are the 12th to 15th field after
	// it, in hundredths of a second.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	last := 13
	if ended {
		last = 15
	}
	var all int64
	for _, f := range fields[11:last] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			c.t.Fatal(err)
		}
		all += n
	}
	return time.Duration(all) * 10 * time.Millisecond
}

func childrenOf(pid int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f) //nolint:gosec // of /proc
		for _, one := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(one)
			all = append(all, n)
		}
	}
	return all
}

// memory is a conductor's resident memory, in MiB.
func (m *member) memory() float64 {
	m.T.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.PID()))
	if err != nil {
		m.T.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				m.T.Fatal(err)
			}
			return n / 1024
		}
	}
	m.T.Fatal("no VmRSS")
	return 0
}

// transactions is how many the database has made.
func (c *cluster) transactions() (n int64) {
	c.t.Helper()
	err := c.row("SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database", &n)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// times are how long something took, again and again.
type times []time.Duration

// of is a part of them, such as 0.5 for the median, in milliseconds.
func (all times) of(part float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[min(int(float64(len(all))*part), len(all)-1)].Microseconds()) / 1e3
}

func (all times) String() string {
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, worst %.1f ms of %d", all.of(0.5), all.of(0.99), all.of(1), len(all))
}
