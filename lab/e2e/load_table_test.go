package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// figure is one thing measured of a server.
type figure struct {
	name string
	rate float64       // a second
	cpu  time.Duration // of the server, for one; 0 where it is not known
}

// table is the figures of a server in the order they were measured; measured
// again, the better one counts.
type table struct {
	pid     int // of the server, 0 when it is not ours
	figures []figure
}

// measure times the work of do, which returns the number of its repetitions.
func (t *table) measure(name string, do func() (times int, err error)) error {
	busy, err := cpuTime(t.pid)
	if err != nil {
		return err
	}
	start := time.Now()
	n, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took := time.Since(start)
	after, err := cpuTime(t.pid)
	if err != nil {
		return err
	}
	f := figure{name, float64(n) / took.Seconds(), (after - busy) / time.Duration(max(n, 1))}
	for i := range t.figures {
		if t.figures[i].name == name {
			if f.rate > t.figures[i].rate {
				t.figures[i] = f
			}
			return nil
		}
	}
	t.figures = append(t.figures, f)
	return nil
}

func (t *table) rate(name string) float64 {
	for _, f := range t.figures {
		if f.name == name {
			return f.rate
		}
	}
	return 0
}

// print writes a line for each figure, beside a peer's figures if there is a peer.
func (t *table) print(peer *table) {
	for _, f := range t.figures {
		line := fmt.Sprintf("bench: %-40s %8.1f/s, %7.3f ms of server CPU each", f.name, f.rate, f.cpu.Seconds()*1e3)
		if p := peer.rate(f.name); p > 0 {
			line += fmt.Sprintf(", peer %7.1f/s, ratio %.1f", p, f.rate/p)
		}
		fmt.Println(line)
	}
}

// cpuTime is the CPU time of a process so far; 0 for process 0, which is not ours to look at.
func cpuTime(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// proc(5): the name may hold spaces and brackets, utime and stime are the
	// 12th and 13th field after it, in hundredths of a second.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields after the name, want 13 or more", pid, len(fields))
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, err2)
}
