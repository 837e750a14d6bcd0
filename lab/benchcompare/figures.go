package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A figure is one number of a line that a benchmark printed.
type figure struct {
	name  string // the line's label, the words before the number, the unit
	value float64
	more  bool // is better
}

// units of figures: whether more is better. Go's benchmarks and the lines "bench: ..." have them.
var units = map[string]bool{
	"/s": true, "MB/s": true, "MiB/s": true, "GiB/s": true, "cycles/s": true, "writes/s": true, "rows/s": true,
	"ns/op": false, "B/op": false, "allocs/op": false, "s/500-hosts": false, "KiB/reader": false, "MiB-heap": false,
	"cpu-µs/cycle": false, "cpu-µs/write": false, "cpu-ms/op": false, "server-µs/op": false, "p50-ms": false,
	"origin-reads": false, "CPU s/GiB": false, "MiB": false, "MB": false, "s": false, "ms": false, "µs": false,
}

var (
	number  = regexp.MustCompile(`(\d+(?:\.\d+)?(?:e[+-]?\d+)?)[ \t]*(CPU s/GiB|[A-Za-zµ/][A-Za-zµ0-9/-]*)`)
	printed = regexp.MustCompile(`^(Benchmark\S+|bench: |e2e: ok )`)
	procs   = regexp.MustCompile(`^(Benchmark\S+?)-\d+\s+\d+\s`) // processors and times run
	spaces  = regexp.MustCompile(`\s+`)

	// figures of the programs that are measured beside ours, and sizes and rates that are given
	given = regexp.MustCompile(`; curl and [^;]*|, dd [0-9.]+ s|, peer .*| [0-9]+ MB of data| at [0-9]+ MB/s`)
)

// figuresOf reads the figures of an output. The first one of a name counts.
func figuresOf(output string) (all []figure) {
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); !printed.MatchString(line) {
			continue
		}
		for _, f := range figuresOfLine(given.ReplaceAllString(procs.ReplaceAllString(line, "$1 "), "")) {
			if !slices.ContainsFunc(all, func(other figure) bool { return other.name == f.name }) {
				all = append(all, f)
			}
		}
	}
	return all
}

func figuresOfLine(line string) (list []figure) {
	label, from := "", 0
	for _, at := range number.FindAllStringSubmatchIndex(line, -1) {
		unit := line[at[4]:at[5]]
		more, known := units[unit]
		if !known {
			continue
		}
		before := line[from:at[0]]
		from = at[1]
		if label == "" {
			label = before
		} else {
			before = label + "… " + before
		}
		value, err := strconv.ParseFloat(line[at[2]:at[3]], 64)
		if err == nil && value > 0 {
			list = append(list, figure{strings.TrimSpace(spaces.ReplaceAllString(before, " ")) + " " + unit, value, more})
		}
	}
	return list
}
