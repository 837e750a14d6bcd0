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

// pluginData is what the data beside the inventory is called.
const pluginData = "plugin_data"

// touch notes that an object of the node was written to.
func (r *evaluation) touch(name string) {
	if r.touched == nil {
		r.touched = map[string]bool{}
	}
	r.touched[name] = true
}

// checkSize refuses what rules, one after the other, could make of an object
// though an operator's edit may not: a size that every list would carry, and
// nesting that readers cannot follow.
func (r *evaluation) checkSize() error {
	for name := range r.touched {
		var of any = r.out.PluginData
		limit := nodeapi.InspectionLimit
		if name != pluginData {
			of, limit = nodeAttributes[name].get(&r.out.Node), nodeapi.BodyLimit
		}
		if err := fits(of, limit); err != nil {
			return fmt.Errorf("%s would be %w", name, err)
		}
	}
	for i := range r.out.Ports {
		for _, of := range []any{r.out.Ports[i].Extra, r.out.Ports[i].LocalLinkConnection} {
			if err := fits(of, nodeapi.BodyLimit); err != nil {
				return fmt.Errorf("the port %s would be %w", r.out.Ports[i].Address, err)
			}
		}
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
