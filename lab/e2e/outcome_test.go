package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	well := outcome{name: "first", dir: "/tmp/first", laps: []lap{{"inspect", 21400 * time.Millisecond}, {"erase", time.Second}}, took: 23 * time.Second}
	badly := outcome{name: "second", dir: "/tmp/second", laps: []lap{{"inspect", 2 * time.Second}}, took: 3 * time.Second, err: errors.New("erase: no")}
	early := outcome{name: "second", dir: "/tmp/second", took: time.Second, err: errors.New("enroll: no")}
	list := []testCase{{name: "first"}, {name: "second"}}
	for _, tt := range []struct {
		name     string
		list     []testCase
		outcomes []outcome
		lines    []string
		last     string
		ok       bool
	}{
		{"all well", list[:1], []outcome{well}, []string{"first                  ok in 23.0 s: inspect 21.4 s, erase 1.0 s"}, "ok 1 machines in 60 s", true},
		{
			"one failed, and ended before the other", list, []outcome{badly, well},
			[]string{"first                  ok in 23.0 s: inspect 21.4 s, erase 1.0 s", "second                 FAILED in 3.0 s: inspect 2.0 s"},
			"1 of 2 machines in 60 s: second (its logs and consoles: /tmp/second)", false,
		},
		{
			"failed at once, and interrupted", list, []outcome{early}, []string{"first                  NOT RUN", "second                 FAILED in 1.0 s: nothing done"},
			"2 of 2 machines in 60 s: first (not run), second (its logs and consoles: /tmp/second)", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines, last, ok := summary(tt.list, tt.outcomes, time.Minute)
			if diff := cmp.Diff(tt.lines, lines); diff != "" {
				t.Error(diff)
			}
			if last != tt.last || ok != tt.ok {
				t.Errorf("last line %q, ok %v", last, ok)
			}
		})
	}
}
