package completion

import (
	"fmt"
	"net/url"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// drivers are the enabled hardware types.
var drivers = listed(nodeapi.Root+"/drivers", "drivers", "name", "")

// hardwareTypes are the enabled hardware types with their interfaces.
func hardwareTypes(r request) ([]object, error) {
	return read(r, "drivers", url.Values{"detail": {"True"}})
}

// driver is the hardware type that --driver names, or else the type of the node that the command changes; empty when it
// is not known yet.
func driver(r request) string {
	if f := r.cmd.Flag("driver"); f != nil && f.Value.String() != "" {
		return f.Value.String()
	}
	if len(r.args) == 0 {
		return ""
	}
	var n object
	if r.session.Client.Do(r.ctx, "GET", client.NodePath(r.args[0])+"?fields=driver", nil, &n) != nil {
		return ""
	}
	return n.text("driver")
}

// interfaces are the implementations of a kind of interface: of the driver, or
// of all drivers while it is not known.
func interfaces(kind string) source {
	return func(r request) (words []string, err error) {
		of := driver(r)
		all, err := hardwareTypes(r)
		for _, d := range all {
			if of != "" && d.text("name") != of {
				continue
			}
			enabled, _ := d["enabled_"+kind+"_interfaces"].([]any)
			for _, name := range enabled {
				words = append(words, fmt.Sprint(name))
			}
		}
		return words, err
	}
}

// driverInfo are the keys of --driver-info: of the driver, or of all drivers
// while it is not known.
func driverInfo(r request) (words []string, err error) {
	names := []string{driver(r)}
	if names[0] == "" {
		if names, err = drivers(r); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		var meanings map[string]string
		path := nodeapi.Root + "/drivers/" + url.PathEscape(name) + "/properties"
		if err := r.session.Client.Do(r.ctx, "GET", path, nil, &meanings); err != nil {
			return nil, err
		}
		for key, meaning := range meanings {
			words = append(words, described(key+"=", meaning))
		}
	}
	return words, nil
}
