package completion

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// kinds are the lists of records, by the command that they are below.
var kinds = map[string]string{"allocation": "allocations", "chassis": "chassis", "inspection-rule": "inspection_rules",
	"node": "nodes", "port": "ports", "portgroup": "portgroups", "runbook": "runbooks", "template": "deploy_templates",
	"volume connector": "volume/connectors", "volume target": "volume/targets"}

// kindOf is the list of the records that a command is about.
func kindOf(cmd *cobra.Command) string {
	_, below, _ := strings.Cut(cmd.Parent().CommandPath(), " ")
	return kinds[below]
}

// keys are the keys that a field of the first argument has: the field that a flag of unset removes keys from.
func keys(flag string) source {
	field := strings.ReplaceAll(flag, "-", "_")
	if flag == "property" {
		field = "properties"
	}
	return func(r request) ([]string, error) {
		if len(r.args) == 0 {
			return nil, nil
		}
		var o object
		at := nodeapi.Root + "/" + kindOf(r.cmd) + "/" + url.PathEscape(r.args[0]) + "?fields=" + field
		err := r.session.Client.Do(r.ctx, "GET", at, nil, &o)
		keys, _ := o[field].(map[string]any)
		return slices.Collect(maps.Keys(keys)), err
	}
}

// fields are the fields of records, as the first record has them. The typed list of fields before the last comma is
// kept.
func fields(suffix string) source {
	return func(r request) (words []string, err error) {
		kind := kindOf(r.cmd)
		if kind == "" {
			kind = "nodes"
		}
		var page map[string]json.RawMessage
		var all []object
		err = r.session.Client.Do(r.ctx, "GET", nodeapi.Root+"/"+kind+"?limit=1&detail=True", nil, &page)
		if err != nil || json.Unmarshal(page[path.Base(kind)], &all) != nil || len(all) == 0 {
			return nil, err
		}
		before := r.typed[:strings.LastIndex(r.typed, ",")+1]
		for field := range all[0] {
			words = append(words, before+field)
			if suffix != "" {
				words = append(words, field+suffix)
			}
		}
		return words, nil
	}
}
