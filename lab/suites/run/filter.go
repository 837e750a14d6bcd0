package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/suites"
)

// A filter passes on the lines of a suite, but for go test's marks and the log of conductors in the test's process. It
// keeps the last line of the suite for the end.
type filter struct {
	to    io.Writer
	suite suites.Suite
	part  []byte // of a line that has not ended
	last  string
	empty bool // go test found nothing to run
}

var (
	hidden  = regexp.MustCompile(`^ *=== |^ *time=\S+ level=`)
	nothing = regexp.MustCompile(`^testing: warning: no tests to run|\[no tests to run\]$`)
)

func (f *filter) Write(p []byte) (int, error) {
	f.part = append(f.part, p...)
	for {
		line, rest, ended := bytes.Cut(f.part, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		if err := f.line(string(line)); err != nil {
			return 0, err
		}
		f.part = rest
	}
}

func (f *filter) line(text string) error {
	switch {
	case f.suite.Last != "" && strings.HasPrefix(text, f.suite.Last):
		f.last = text
		return nil
	case hidden.MatchString(text):
		return nil
	case nothing.MatchString(text):
		f.empty = true
	}
	_, err := fmt.Fprintln(f.to, text)
	return err
}

// check refuses a run that went well because nothing ran.
func (f *filter) check() error {
	switch {
	case f.empty:
		return errors.New("no test has the name that the suite asks for")
	case f.suite.Last != "" && f.last == "":
		return fmt.Errorf("its tests passed, and none printed %q", f.suite.Last)
	}
	return nil
}
