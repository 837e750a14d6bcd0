package wait

import (
	"cmp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Next is the next command for a node: the conductor's advice. An Ironic, or one for a lessee, gives none.
func Next(st nodeapi.Status) string { return cmp.Or(st.Try, nodeapi.NextStep(st)) }
