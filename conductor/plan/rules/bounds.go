package rules

import (
	"encoding/json"
	"fmt"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// An operator's rule over a machine's data could go on for days: a loop of a
// hundred thousand items, each with all of the inventory in its text, or a
// pattern of a thousand parts over it. So every piece of work has a price, and
// an inspection may spend only so much. A second of one core is not reached.
const (
	maxWork     = 1 << 26
	clausePrice = 64 // to look at a condition or an action once
	valuePrice  = 8  // to walk over one value, or one byte of text that is made
)

func (r *evaluation) spend(price int) error {
	if r.left -= price; r.left < 0 {
		return fmt.Errorf("the rules of this inspection are too much work: make loops, texts or patterns shorter")
	}
	return nil
}

// pluginData is the name of the data beside the inventory.
const pluginData = "plugin_data"

// touch notes that an object of the node was written to.
func (r *evaluation) touch(name string) {
	if r.touched == nil {
		r.touched = map[string]bool{}
	}
	r.touched[name] = true
}

// checkSize refuses an object that rules have made, one after the other, if an operator's edit could not make it. The
// size is bounded because every list carries it, and the nesting because readers cannot follow more.
func (r *evaluation) checkSize(found *Found) error {
	for name := range r.touched {
		if name == pluginData {
			if err := fits(r.out.PluginData, nodeapi.InspectionLimit); err != nil {
				return fmt.Errorf("%s would be %w", name, err)
			}
			continue
		}
		get := nodeAttributes[name].get
		if err := fitsField(name, get(&found.Node), get(&r.out.Node)); err != nil {
			return err
		}
	}
	for i, p := range r.out.Ports {
		was := found.Ports[i]
		for _, of := range []struct {
			name    string
			was, is map[string]any
		}{{"extra", was.Extra, p.Extra}, {"local_link_connection", was.LocalLinkConnection, p.LocalLinkConnection}} {
			if err := fitsField(of.name+" of the port "+p.Address, of.was, of.is); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitsField checks a field against the limits of the API: rules copy values that machines report.
func fitsField(name string, was, is any) error {
	if err := nodeapi.CheckSize(name, was, is); err != nil {
		return err
	}
	if err := fits(is, nodeapi.ProvisionLimit); err != nil {
		return fmt.Errorf("%s would be %w", name, err)
	}
	return nil
}

func fits(of any, limit int) error {
	raw, err := json.Marshal(of)
	if err != nil {
		return err
	}
	if len(raw) > limit {
		return fmt.Errorf("%d bytes, the limit is %d", len(raw), limit)
	}
	return nodeapi.CheckJSON(raw)
}
