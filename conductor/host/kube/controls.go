package kube

import "github.com/ferrite-metal/ferrite/proto/nodeapi"

// checkControls refuses control characters in a decoded document, as for nodes. A
// Secret's stringData may hold any text: it is kept in base64, and shown nowhere.
func checkControls(document map[string]any) error {
	rest := make(map[string]any, len(document))
	for key, value := range document {
		if key != "stringData" {
			rest[key] = value
		}
	}
	return nodeapi.CheckText(rest)
}

// checkRequest refuses control characters in the path and the query, which end up
// in look-ups, answers and logs.
func checkRequest(c *call) error {
	if err := nodeapi.CheckLine(c.URL.Path); err != nil {
		return badRequest("the path: %v", err)
	}
	for name, values := range c.query {
		for _, text := range append(values, name) {
			if err := nodeapi.CheckLine(text); err != nil {
				return badRequest("the parameter %q: %v", name, err)
			}
		}
	}
	return nil
}
