package savedtree

import "regexp"

// Texts replaces values that identify one machine in sentences about a BMC: values of its documents, and every address.
// A value has the same replacement in all sentences of one Texts.
type Texts struct{ r *redactor }

// NewTexts collects the values of the documents in t, and the named values: a host, a user's name.
func NewTexts(t *Tree, named ...string) (*Texts, error) {
	r, err := newRedactor()
	if err != nil {
		return nil, err
	}
	for _, doc := range t.docs {
		r.learn("", doc)
	}
	for _, value := range named {
		if value != "" {
			r.value("hostname", value)
		}
	}
	r.ready()
	return &Texts{r}, nil
}

// hosts are addresses in sentences that no document has: in a URL, or before a port.
var hosts = regexp.MustCompile(`(?:[a-z][a-z0-9+.-]*://[^\s/"]+|` +
	`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d+\b|\[[0-9A-Fa-f:.%]+\](?::\d+)?)`)

// Redact is a sentence without the values that identify one machine.
func (t *Texts) Redact(text string) string {
	return t.r.text("", hosts.ReplaceAllString(text, "ADDRESS"))
}
