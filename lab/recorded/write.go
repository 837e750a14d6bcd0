package recorded

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// patch changes a document, or its values from the next start on.
func (s *Server) patch(at, match string, body map[string]any) answer {
	doc, has := s.docs[at]
	if !has {
		return refused(http.StatusNotFound, "ResourceMissingAtURI: %s", at)
	}
	if match != "" && match != "*" && bare(match) != bare(etag(doc)) {
		return refused(http.StatusPreconditionFailed, "PreconditionFailed: the ETag is %s", etag(doc))
	}
	if boot, is := body["Boot"].(map[string]any); is {
		if a, wrong := checkBoot(doc, boot); wrong {
			return a
		}
	}
	if of := s.settingsFor(at); of != "" {
		s.pending[of] = merge(s.pending[of], body)
	}
	next := merge(doc, body)
	delete(next, "@odata.etag") // it was of the content before
	s.docs[at] = next
	return answer{status: http.StatusOK, body: next, header: http.Header{"Etag": {etag(next)}}}
}

// checkBoot refuses a boot source that the recorded BMC does not offer.
func checkBoot(doc, boot map[string]any) (answer, bool) {
	have, _ := doc["Boot"].(map[string]any)
	for _, key := range []string{"BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode"} {
		offered, is := have[key+"@Redfish.AllowableValues"].([]any)
		if value, sent := boot[key]; sent && is && !slices.Contains(offered, value) {
			return refused(http.StatusBadRequest, "PropertyValueNotInList: %v of %s is not one of %v", value, key, offered), true
		}
	}
	return answer{}, false
}

// settingsFor is the resource with @Redfish.Settings that lead to at; "" for none.
func (s *Server) settingsFor(at string) string {
	for path, doc := range s.docs {
		settings, _ := doc["@Redfish.Settings"].(map[string]any)
		if strings.EqualFold(linkOf(settings, "SettingsObject"), at) {
			return path
		}
	}
	return ""
}

// merge is a document with changes in it, object by object; neither is written to.
func merge(doc, changes map[string]any) map[string]any {
	out := maps.Clone(doc)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range changes {
		inner, isObject := value.(map[string]any)
		if was, is := out[key].(map[string]any); is && isObject {
			value = merge(was, inner)
		}
		out[key] = value
	}
	return out
}

// settle carries out the power changes that are due.
func (s *Server) settle() {
	now := s.c.Now()
	var left []change
	for _, c := range s.power {
		if c.at.After(now) {
			left = append(left, c)
			continue
		}
		s.docs[c.system] = merge(s.docs[c.system], map[string]any{"PowerState": c.power})
		if c.power == "On" {
			s.started(c.system)
		}
	}
	s.power = left
}

// started uses up a boot override for one start, and makes pending settings come true.
func (s *Server) started(system string) {
	doc := s.docs[system]
	if boot, is := doc["Boot"].(map[string]any); is && boot["BootSourceOverrideEnabled"] == "Once" {
		s.docs[system] = merge(doc, map[string]any{"Boot": map[string]any{"BootSourceOverrideEnabled": "Disabled",
			"BootSourceOverrideTarget": "None"}})
	}
	for of, changes := range s.pending {
		if !below(of, system) {
			continue
		}
		s.docs[of] = merge(s.docs[of], without(changes, "@Redfish.SettingsApplyTime"))
		delete(s.pending, of)
	}
	for path, secure := range s.docs {
		on, is := secure["SecureBootEnable"].(bool)
		if is && below(path, system) {
			s.docs[path] = merge(secure, map[string]any{"SecureBootCurrentBoot": map[bool]string{true: "Enabled",
				false: "Disabled"}[on]})
		}
	}
}

// below reports whether a resource is a system or part of it, however its path is spelt.
func below(path, system string) bool {
	return strings.EqualFold(path, system) || strings.HasPrefix(strings.ToLower(path), strings.ToLower(system)+"/")
}

func without(doc map[string]any, key string) map[string]any {
	out := maps.Clone(doc)
	delete(out, key)
	return out
}
