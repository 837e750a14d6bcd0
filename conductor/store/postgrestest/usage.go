package postgrestest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ProcessorTime is the processor time of the server: of its main process, and of the processes for connections, ended
// ones too. Its resolution is the kernel's, a hundredth of a second.
func (s *Server) ProcessorTime() (all time.Duration, err error) {
	pid := s.PID()
	if all, err = processorTime(pid, true); err != nil {
		return 0, err
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) //nolint:gosec // of /proc
		for _, child := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(child)
			used, _ := processorTime(n, false) // if it has just ended, its parent counts it
			all += used
		}
	}
	return all, nil
}

// processorTime is the time of a process; ended adds the time of its ended children.
func processorTime(pid int, ended bool) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
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
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		all += n
	}
	return time.Duration(all) * 10 * time.Millisecond, nil
}
