package node

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/flags"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// nodeFlags are the fields of a node that create and set have flags for.
type nodeFlags struct {
	texts   map[string]*string // by field
	objects map[string]*flags.ObjectFlag
	clean   bool
	noClean bool
}

func addNodeFlags(cmd *cobra.Command) *nodeFlags {
	f := &nodeFlags{texts: map[string]*string{}, objects: map[string]*flags.ObjectFlag{}}
	fs := cmd.Flags()
	for _, of := range nodeapi.NodeFields() {
		switch {
		case of.Interface:
			kind := strings.TrimSuffix(of.Name, "_interface")
			f.texts[of.Name] = fs.String(of.FlagName(), "", kind+" interface; the driver's default when left out")
		case of.Flag == "":
		case of.Object:
			obj := &flags.ObjectFlag{Flag: of.FlagName(), Read: output.JsonOrText}
			if of.Name == "driver_info" {
				obj.Read = output.MostlyText
			}
			fs.StringArrayVar(&obj.Args, of.FlagName(), nil, of.Flag)
			f.objects[of.Name] = obj
		default:
			f.texts[of.Name] = fs.String(of.FlagName(), "", of.Flag)
		}
	}
	fs.BoolVar(&f.clean, "automated-clean", false, "clean its disks between tenants, also against the conductor's default")
	fs.BoolVar(&f.noClean, "no-automated-clean", false, "do not clean its disks between tenants")
	cmd.MarkFlagsMutuallyExclusive("automated-clean", "no-automated-clean")
	return f
}

// given returns the fields of the flags in use: texts and booleans in plain, and objects by key.
func (f *nodeFlags) given(cmd *cobra.Command) (plain map[string]any, objects map[string]map[string]any, err error) {
	plain, objects = map[string]any{}, map[string]map[string]any{}
	for field, value := range f.texts {
		if *value != "" {
			plain[field] = *value
		}
	}
	if cmd.Flags().Changed("automated-clean") {
		plain["automated_clean"] = f.clean
	}
	if f.noClean {
		plain["automated_clean"] = false
	}
	for field, o := range f.objects {
		if len(o.Args) == 0 {
			continue
		}
		if objects[field], err = output.Pairs(o.Flag, o.Args, o.Read); err != nil {
			return nil, nil, err
		}
	}
	return plain, objects, nil
}

// body is the fields as a new node has them.
func (f *nodeFlags) body(cmd *cobra.Command) (map[string]any, error) {
	body, objects, err := f.given(cmd)
	for field, object := range objects {
		body[field] = object
	}
	return body, err
}

// patch is the fields as changes to a node that is there.
func (f *nodeFlags) patch(cmd *cobra.Command) ([]nodeapi.Patch, error) {
	plain, objects, err := f.given(cmd)
	if err != nil {
		return nil, err
	}
	var ops []nodeapi.Patch
	for _, field := range output.Sorted(plain) {
		ops = append(ops, nodeapi.Patch{Op: "add", Path: "/" + field, Value: plain[field]})
	}
	for _, field := range []string{"driver_info", "properties", "instance_info", "extra"} {
		for _, key := range output.Sorted(objects[field]) {
			ops = append(ops,
				nodeapi.Patch{Op: "add", Path: "/" + field + "/" + output.Pointer(key), Value: objects[field][key]})
		}
	}
	return ops, nil
}

// jsonFlag reads a flag that holds JSON.
func jsonFlag(flag, value string) (any, error) {
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		return nil, fmt.Errorf("--%s: not JSON: %w", flag, err)
	}
	return v, nil
}
