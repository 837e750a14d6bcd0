package node

import (
	"fmt"
	"strings"
)

// Mermaid renders Table as a Mermaid state diagram, in table order. Rows an
// operator asks for are marked (API).
func Mermaid() string {
	id := strings.NewReplacer(" ", "_", "-", "_")
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, t := range Table {
		by := ""
		if t.By == ByRequest {
			by = " (API)"
		}
		fmt.Fprintf(&b, "    %s --> %s: %s%s\n", id.Replace(string(t.From)), id.Replace(string(t.To)), t.On, by)
	}
	return b.String()
}
