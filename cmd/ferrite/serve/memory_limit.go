package serve

import (
	"bufio"
	"bytes"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory sets the limit of Go's runtime by the memory limit of the conductor's cgroup. Without it, garbage may
// pass the limit, and the kernel ends the process. A tenth stays for memory outside Go's heap. GOMEMLIMIT in the
// environment wins.
func limitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		log.Info("the memory limit is GOMEMLIMIT of the environment", "bytes", debug.SetMemoryLimit(-1))
		return
	}
	if limit, from := cgroupLimit(os.DirFS("/")); limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit / 10 * 9)
		log.Info("the memory limit is nine tenths of the cgroup's", "bytes", limit/10*9, "file", from)
	}
}

// cgroupLimit is the least memory limit of the process's cgroup and those above it, in bytes, and the file that has it;
// math.MaxInt64 for none. See cgroups(7): version 2 has memory.max, version 1 memory.limit_in_bytes of its controller.
func cgroupLimit(root fs.FS) (least int64, from string) {
	least = math.MaxInt64
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least, "" // a system without cgroups
	}
	for lines := bufio.NewScanner(bytes.NewReader(groups)); lines.Scan(); {
		part := strings.SplitN(lines.Text(), ":", 3) // 0::/group, or 4:memory:/group
		if len(part) != 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		if part[1] != "" {
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if part[1] != "" && part[1] != "memory" {
			continue
		}
		// In a container the path may be the host's, of which only the top is mounted.
		for group := path.Join("/", part[2]); ; group = path.Dir(group) {
			name := path.Join(folder, group, file)
			text, _ := fs.ReadFile(root, name)
			// "max", and in version 1 a number of pages that no machine has, are no limit.
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && n > 0 && n < 1<<60 && n < least {
				least, from = n, "/"+name
			}
			if group == "/" {
				break
			}
		}
	}
	return least, from
}
