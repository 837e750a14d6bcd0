// Package driverinfo reads settings of a BMC from a node's driver_info and
// says what is wrong with them.
//
// It must not connect to anything, and must not put a secret into an error.
package driverinfo

import (
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Error is a setting that is missing or cannot be right.
type Error struct {
	Key     string
	Problem string // what was expected and what to do
}

func (e *Error) Error() string { return fmt.Sprintf("driver_info: %s %s", e.Key, e.Problem) }

// Permanent says that trying again does not help.
func (e *Error) Permanent() bool { return true }

// Wrong makes an Error.
func Wrong(key, format string, args ...any) error {
	return &Error{key, fmt.Sprintf(format, args...)}
}

// Text reads a setting that is text; "" when it is not set.
func Text(n node.Node, key string) (string, error) {
	switch v := n.DriverInfo[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", Wrong(key, "must be a string, not %T", v)
	}
}

// Required is Text for a setting that must be there.
func Required(n node.Node, key, what string) (string, error) {
	v, err := Text(n, key)
	if err == nil && v == "" {
		err = Wrong(key, "is missing: set it to %s", what)
	}
	return v, err
}
