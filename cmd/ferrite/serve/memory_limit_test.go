package serve

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestCgroupLimit: the files as systemd, Docker and Kubernetes mount them.
func TestCgroupLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  int64
		from  string
	}{
		"none": {want: math.MaxInt64},
		"a unit with MemoryMax": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/ferrite.service\n",
			"sys/fs/cgroup/system.slice/ferrite.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max":                 "max\n",
		}, 512 << 20, "/sys/fs/cgroup/system.slice/ferrite.service/memory.max"},
		"a slice that is smaller": {map[string]string{
			"proc/self/cgroup":                           "0::/a.slice/f.service\n",
			"sys/fs/cgroup/a.slice/f.service/memory.max": "2097152000\n",
			"sys/fs/cgroup/a.slice/memory.max":           "1048576000\n",
		}, 1048576000, "/sys/fs/cgroup/a.slice/memory.max"},
		"a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20, "/sys/fs/cgroup/memory.max"},
		"a container that sees the path of the host": {map[string]string{
			"proc/self/cgroup": "0::/../../kubepods/pod1\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20, "/sys/fs/cgroup/memory.max"},
		"no limit": {map[string]string{"proc/self/cgroup": "0::/x\n", "sys/fs/cgroup/x/memory.max": "max\n"}, math.MaxInt64,
			""},
		"version 1": {map[string]string{
			"proc/self/cgroup":                           "12:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "314572800\n",
		}, 300 << 20, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"version 1 without one": {map[string]string{
			"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, math.MaxInt64, ""},
		"nonsense": {map[string]string{"proc/self/cgroup": "::\n0:\nmemory\n0::/x", "sys/fs/cgroup/x/memory.max": "-5\n"},
			math.MaxInt64, ""},
	} {
		files := fstest.MapFS{}
		for path, text := range tc.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if limit, from := cgroupLimit(files); limit != tc.want || from != tc.from {
			t.Errorf("%s: %d of %q, want %d of %q", name, limit, from, tc.want, tc.from)
		}
	}
}

// FuzzCgroupLimit: for any text of the kernel, the limit is one of the files'.
func FuzzCgroupLimit(f *testing.F) {
	f.Add("0::/a/b\n", "1024\n")
	f.Add("4:memory:/../x\n", "max\n")
	f.Add("0::/\x00/../..//\n:::\n", "99999999999999999999\n")
	f.Fuzz(func(t *testing.T, groups, limit string) {
		got, from := cgroupLimit(fstest.MapFS{"proc/self/cgroup": {Data: []byte(groups)},
			"sys/fs/cgroup/memory.max":                   {Data: []byte(limit)},
			"sys/fs/cgroup/memory/memory.limit_in_bytes": {Data: []byte(limit)}})
		if got <= 0 || (from == "") != (got == math.MaxInt64) {
			t.Errorf("%d of %q", got, from)
		}
	})
}
