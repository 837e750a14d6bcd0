package serve

import (
	"os"
	"slices"
	"testing"
)

// smapsOf is a part of /proc/PID/smaps: program text and constants, constants that the loader has relocated, variables,
// the heap and a library.
const smapsOf = `00400000-00500000 r-xp 00000000 fe:00 77    /usr/bin/ferrite
Rss:                 640 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00500000-00600000 r--p 00100000 fe:00 77    /usr/bin/ferrite
Anonymous:             0 kB
00600000-00610000 r--p 00200000 fe:00 77    /usr/bin/ferrite
Anonymous:            16 kB
00610000-00620000 rw-p 00210000 fe:00 77    /usr/bin/ferrite
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 99    /usr/lib/libc.so.6
Anonymous:             0 kB
`

func TestUnchangedMappings(t *testing.T) {
	want := []mapping{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if got := unchanged([]byte(smapsOf), "/usr/bin/ferrite"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestReleaseStartPages: the test's own program has such mappings, and runs on without their pages.
func TestReleaseStartPages(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil || len(unchanged(maps, program)) == 0 {
		t.Fatalf("no mapping of %s: %v", program, err)
	}
	if err := releaseStartPages(); err != nil {
		t.Error(err)
	}
}
