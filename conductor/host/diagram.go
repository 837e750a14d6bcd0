package host

import (
	"cmp"
	"fmt"
	"strings"
)

// Mermaid renders Table as a Mermaid state diagram, in table order. The state
// without a name is called none.
func Mermaid() string {
	id := strings.NewReplacer(" ", "_")
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, t := range Table {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", cmp.Or(id.Replace(string(t.From)), "none"), id.Replace(string(t.To)), t.On)
	}
	return b.String()
}
