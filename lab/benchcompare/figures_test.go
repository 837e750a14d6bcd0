package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFiguresOf(t *testing.T) {
	output := strings.Join([]string{
		"goos: linux",
		"BenchmarkNode/create-2         \t    1000\t    123456 ns/op\t   2048 B/op\t      12 allocs/op",
		"BenchmarkWriteRaw-2 \t 3 \t 500000000 ns/op\t1340.12 MB/s",
		"bench: conductor ready in 0.310 s (median of 5, slowest 0.402 s), 35.1 MiB resident idle",
		"bench: manage 200 nodes                          1234.5/s,   0.600 ms of server CPU each, peer  12.0/s, ratio 9.1",
		"bench: image qcow2      512 MB of data: 1.20 s, 0.80 CPU s/GiB of disk, peak 40 MiB resident; " +
			"curl and qemu-img 2.00 s, 1.50 CPU s/GiB, ratio 1.67; at 400 MB/s 2.10 s, dd 2.20 s, ratio 1.05 (of 3)",
		"ok  \tsome/package\t12.3s",
	}, "\n")
	want := []figure{
		{"BenchmarkNode/create ns/op", 123456, false},
		{"BenchmarkNode/create … B/op", 2048, false},
		{"BenchmarkNode/create … allocs/op", 12, false},
		{"BenchmarkWriteRaw ns/op", 5e8, false},
		{"BenchmarkWriteRaw … MB/s", 1340.12, true},
		{"bench: conductor ready in s", 0.31, false},
		{"bench: conductor ready in … (median of 5, slowest s", 0.402, false},
		{"bench: conductor ready in … ), MiB", 35.1, false},
		{"bench: manage 200 nodes /s", 1234.5, true},
		{"bench: manage 200 nodes … , ms", 0.6, false},
		{"bench: image qcow2 : s", 1.2, false},
		{"bench: image qcow2 : … , CPU s/GiB", 0.8, false},
		{"bench: image qcow2 : … of disk, peak MiB", 40, false},
		{"bench: image qcow2 : … resident; s", 2.1, false},
	}
	if got := figuresOf(output); !slices.Equal(got, want) {
		t.Errorf("figures\n%v\nwant\n%v", got, want)
	}
}

// A figure counts by its median ratio, and time and rate in their own directions.
func TestRatios(t *testing.T) {
	for _, c := range []struct {
		turns turns
		want  []float64
	}{
		{turns{here: []float64{2, 4, 1}, base: []float64{1, 1, 1}, more: true}, []float64{1, 2, 4}},
		{turns{here: []float64{2, 4, 1}, base: []float64{1, 1, 1}}, []float64{0.25, 0.5, 1}},
		{turns{here: []float64{2}}, nil},
	} {
		if got := c.turns.ratios(); !slices.Equal(got, c.want) {
			t.Errorf("ratios of %v: %v, want %v", c.turns, got, c.want)
		}
	}
}
