package hostapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Limits of the parts of documents, in bytes of JSON. Annotations and Secrets have Kubernetes' limits
// (TotalAnnotationSizeLimitB, MaxSecretSize); fields that people fill have the limits of a node's fields.
const (
	maxAnnotations = 256 << 10
	maxPart        = 64 << 10
	maxReported    = 1 << 20 // of machines' reports, and of a Secret's data
)

// CheckSizes says which parts of a document are longer than they may be, and than they were before: a part that was
// stored under a higher limit may shrink. old is nil for a new document.
func CheckSizes(old, next Document) (all []Problem) {
	was, is := sizes(old), sizes(next)
	for path, n := range is {
		limit := maxReported
		switch kind := next.About().Kind; {
		case path == "metadata.annotations":
			limit = maxAnnotations
		case strings.HasPrefix(path, "metadata."),
			(kind == KindHost || kind == KindClaim) && strings.HasPrefix(path, "spec."):
			limit = maxPart
		}
		if n > limit && n > was[path] {
			all = append(all, Problem{Path: path, Reason: fmt.Sprintf("%d bytes of JSON, the limit is %d", n, limit),
				Forbidden: true})
		}
	}
	slices.SortFunc(all, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// sizes is the bytes of the members of a document's parts: of metadata, spec, status, and of a Secret's data.
func sizes(d Document) map[string]int {
	all := map[string]int{}
	if d == nil {
		return all
	}
	text, err := json.Marshal(d)
	var parts map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &parts) != nil {
		return all // it is no document, which others say
	}
	for name, part := range parts {
		var members map[string]json.RawMessage
		if name == "data" || json.Unmarshal(part, &members) != nil {
			all[name] = len(part)
		}
		for member, value := range members {
			all[name+"."+member] = len(value)
		}
	}
	return all
}
