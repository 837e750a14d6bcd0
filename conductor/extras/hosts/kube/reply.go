package kube

import (
	"encoding/json"
	"net/http"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// metaGroup is the group of Kubernetes' general forms of documents.
const metaGroup = "meta.k8s.io"

// form is how documents are asked for: whole, as a table or as their metadata.
type form struct {
	as   string // "", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
	yaml bool
}

// accepted is the first form in Accept that the server has.
func (c *call) accepted() (form, error) {
	header := c.Header.Get("Accept")
	if header == "" {
		return form{}, nil
	}
	for range_ := range strings.SplitSeq(header, ",") {
		kind, params := mediaType(range_)
		f := form{as: params["as"]}
		known := f.as == "" || params["g"] == metaGroup && params["v"] == "v1" &&
			(f.as == "Table" || f.as == "PartialObjectMetadata" || f.as == "PartialObjectMetadataList")
		switch kind {
		case "application/json", "*/*", "application/*":
		case "application/yaml":
			f.yaml = true
		default:
			continue
		}
		if known {
			return f, nil
		}
	}
	return form{}, failed(http.StatusNotAcceptable, notAcceptable,
		"only the following media types are accepted: application/json, application/yaml")
}

// mediaType splits "application/json;as=Table;v=v1". Kubernetes' parameters are
// no proper ones, and are read as they come.
func mediaType(s string) (kind string, params map[string]string) {
	parts := strings.Split(s, ";")
	params = map[string]string{}
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		params[key] = value
	}
	return strings.ToLower(strings.TrimSpace(parts[0])), params
}

// reply answers with a value as it is.
func (s *Server) reply(c *call, code int, v any) error {
	f, err := c.accepted()
	if err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	kind := "application/json"
	if f.yaml {
		kind = "application/yaml"
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	}
	if err := c.reserve(len(text)); err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", kind)
	c.w.WriteHeader(code)
	return c.write(text)
}

// one answers with a document, in the form that is asked for.
func (s *Server) one(c *call, code int, d hostapi.Document) error {
	f, err := c.accepted()
	if err != nil {
		return err
	}
	if d, err = masked(c, d); err != nil {
		return err
	}
	return s.reply(c, code, s.shown(c, f, d))
}

// shown is a document in a form.
func (s *Server) shown(c *call, f form, d hostapi.Document) any {
	switch f.as {
	case "Table":
		return s.table(c, d)
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return partial(d)
	}
	return d
}

// listMeta is a list's metadata.
type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue,omitempty"`
}

// metadata is a document reduced to its metadata.
type metadata struct {
	hostapi.TypeMeta
	Metadata *hostapi.ObjectMeta `json:"metadata"`
}

func partial(d hostapi.Document) metadata {
	return metadata{TypeMeta: hostapi.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: metaGroup + "/v1"},
		Metadata: d.Meta()}
}
