package main

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/lab/suites"
)

// TestFilter: marks and logs of go test are left out, the last line waits, and a run without tests does not pass.
func TestFilter(t *testing.T) {
	for name, c := range map[string]struct{ last, in, out, kept, err string }{
		"as it is": {in: "a\nb\n", out: "a\nb\n"},
		"marks":    {in: "=== RUN   TestA\n    === NAME  TestA/b\n--- PASS: TestA\n", out: "--- PASS: TestA\n"},
		"log":      {in: "time=2026-11-28T13:00:00Z level=INFO msg=a\n    time=13:00 level=WARN\nok\n", out: "ok\n"},
		"last line": {last: "soak: ok", in: "soak: begins\nsoak: ok 3\nPASS\n", out: "soak: begins\nPASS\n",
			kept: "soak: ok 3"},
		"no last line": {last: "soak: ok", in: "PASS\n", out: "PASS\n", err: `none printed "soak: ok"`},
		"nothing ran": {in: "testing: warning: no tests to run\n", out: "testing: warning: no tests to run\n",
			err: "no test has"},
		"one package without": {in: "ok  \ta\t0.1s [no tests to run]\n", out: "ok  \ta\t0.1s [no tests to run]\n",
			err: "no test has"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			f := &filter{to: &b, suite: suites.Suite{Last: c.last}}
			for _, p := range strings.SplitAfter(c.in, "e") { // parts of lines
				if n, err := f.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			err := f.check()
			if b.String() != c.out || f.last != c.kept || (err == nil) != (c.err == "") ||
				err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, kept %q, %v; want %q, %q, %q", b.String(), f.last, err, c.out, c.kept, c.err)
			}
		})
	}
}
