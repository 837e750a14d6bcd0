package main

import (
	"fmt"
	"regexp"
)

// options are what the command line says.
type options struct {
	only                         string
	list, bench, interop, matrix bool
	bin                          string
	keep                         bool
	atOnce                       int
}

// label begins the last line.
func (o options) label() string {
	if o.interop {
		return "interop"
	}
	if o.matrix {
		return "e2e-matrix"
	}
	return "e2e"
}

// profile is the ramdisk's.
func (o options) profile() string {
	if o.matrix {
		return "metal"
	}
	return "lab"
}

// choose picks the cases that are asked for, the measured ones apart.
func (o options) choose() (measured, others []testCase, err error) {
	match, err := regexp.Compile(o.only)
	if err != nil {
		return nil, nil, fmt.Errorf("-run: %w", err)
	}
	from := cases
	if o.interop {
		from = interop
	}
	if o.matrix {
		from = matrix()
	}
	for _, c := range from {
		switch {
		case !match.MatchString(c.name):
		case c.measured:
			measured = append(measured, c)
		case !o.bench:
			others = append(others, c)
		}
	}
	return measured, others, nil
}
