package redfish

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// notWalked are the parts of a tree that do not show a BMC's abilities, and are large or private: schemas, logs,
// sessions, tasks, certificates, and measurements over time.
var notWalked = []string{"/JsonSchemas", "/$metadata", "/schemastore", "/Entries", "/Sessions", "/Tasks",
	"/TaskMonitors",
	"/Certificates", "/CertificateLocations", "/Accounts", "/ExternalAccountProviders", "/MetricReports",
	"/MetricReportDefinitions", "/Dump",
	"/Subscriptions"}

// Walk reads all documents of a BMC, each once, and gives them to take, by their paths below the service root.
// Documents that the BMC does not show are returned in left. The bounds of a call end it; a document that is known
// already is not followed again.
func (d *Driver) Walk(ctx context.Context, n node.Node, take func(path string, doc map[string]any)) (left []string,
	err error) {
	err = d.call(ctx, n, "read all documents", func(s *session) error {
		w := walk{session: s, take: take, known: map[string]bool{}}
		w.note(strings.TrimSuffix(defaultRoot, "/"))
		for len(w.queue) > 0 {
			at := w.queue[0]
			w.queue = w.queue[1:]
			if err := w.visit(at); err != nil {
				return err
			}
		}
		left = w.left
		return nil
	})
	return left, err
}

// walk is one reading of a tree, breadth first, so that a bound cuts off the deepest documents.
type walk struct {
	*session
	take  func(path string, doc map[string]any)
	known map[string]bool // small letters: some BMCs link to themselves in both spellings
	queue []string
	left  []string
}

// note takes a link for a visit.
func (w *walk) note(link string) {
	link, _, _ = strings.Cut(link, "#")
	link, _, _ = strings.Cut(link, "?")
	link = path.Clean("/" + strings.TrimSuffix(link, "/"))
	if w.known[strings.ToLower(link)] || !strings.HasPrefix(link+"/", defaultRoot) || len(link) > maxLink {
		return
	}
	for _, part := range notWalked {
		if strings.HasSuffix(link, part) || strings.Contains(link, part+"/") {
			return
		}
	}
	w.known[strings.ToLower(link)] = true
	w.queue = append(w.queue, link)
}

func (w *walk) visit(at string) error {
	var doc map[string]any
	if _, err := w.get(at, &doc); err != nil {
		if isWire(err) && w.client != nil && strings.Contains(err.Error(), "more than") { // a bound of the call
			w.left = append(w.left, label(fmt.Sprintf("%d documents from %s on: %v", len(w.queue)+1, at, describe(err))))
			w.queue = nil
			return nil
		}
		if err := w.optional("documents", err); err != nil {
			return err
		}
		w.left = append(w.left, label(fmt.Sprintf("%s: %v", at, describe(err))))
		return nil
	}
	w.links(doc)
	w.take(at, doc)
	return nil
}

// links notes all links of a document: @odata.id, and the Uri of registries.
func (w *walk) links(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			link, is := inner.(string)
			if is && (key == "@odata.id" || key == "Uri" || key == "@Redfish.ActionInfo" || key == "Members@odata.nextLink") {
				w.note(link)
				continue
			}
			w.links(inner)
		}
	case []any:
		for _, inner := range v {
			w.links(inner)
		}
	}
}
