package driverinfo_test

import (
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/driverinfo"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

func TestRead(t *testing.T) {
	text := func(n node.Node) (any, error) { return driverinfo.Text(n, "k") }
	required := func(n node.Node) (any, error) { return driverinfo.Required(n, "k", "something") }
	number := func(n node.Node) (any, error) { return driverinfo.Number(n, "k", 7) }
	boolean := func(n node.Node) (any, error) { return driverinfo.Bool(n, "k", true) }
	for _, c := range []struct {
		read func(n node.Node) (any, error)
		v    any
		want string
	}{
		{text, nil, ""},
		{text, "x", "x"},
		{text, 1.0, "driver_info: k must be a string, not float64"},
		{required, "x", "x"},
		{required, nil, "driver_info: k is missing: set it to something"},
		{required, "", "driver_info: k is missing: set it to something"},
		{number, nil, "7"},
		{number, "", "7"},
		{number, 5, "5"},
		{number, 5.0, "5"},
		{number, "5", "5"},
		{number, 5.5, "driver_info: k must be a whole number, not 5.5"},
		{number, 1e300, "driver_info: k must be a whole number, not 1e+300"},
		{number, "five", "driver_info: k must be a whole number, not five"},
		{number, true, "driver_info: k must be a whole number, not true"},
		{boolean, nil, "true"},
		{boolean, false, "false"},
		{boolean, "Off", "false"},
		{boolean, "y", "true"},
		{boolean, "", "driver_info: k must be true or false, not "},
		{boolean, 1.0, "driver_info: k must be true or false, not 1"},
	} {
		v, err := c.read(node.Node{DriverInfo: map[string]any{"k": c.v}})
		got := fmt.Sprint(v)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
}
