package node

import (
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// unreserved is the form of a name: the unreserved characters of RFC 3986 section 2.3.
var unreserved = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)

// ValidName reports whether a node can have a name. It must not look like a UUID, or a
// reference to it would be ambiguous.
func ValidName(name string) bool {
	return len(name) <= 255 && unreserved.MatchString(name) && uuid.Validate(name) != nil
}

// OfHost reports whether a node has the name of a host's node: NAMESPACE~NAME. The document of a host says by itself
// whether its machine is on.
func (n Node) OfHost() bool { return strings.Contains(n.Name, hostapi.NodeNameSeparator) }
