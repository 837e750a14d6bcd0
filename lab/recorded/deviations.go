package recorded

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// request is a request under the check of a deviation.
type request struct {
	*http.Request
	at   string // the resource, as the tree spells it
	body map[string]any
}

func (r request) changes() bool { return r.Method == http.MethodPatch }

func (r request) action(end string) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.at, end)
}

// boot is a member of the boot override in a request; has reports whether the request sends it.
func (r request) boot(key string) (value any, has bool) {
	boot, _ := r.body["Boot"].(map[string]any)
	value, has = boot["BootSourceOverride"+key]
	return value, r.changes() && has
}

// deviation is one of lab/redfish, as far as a recording can have it: refuse answers a request that
// the vendor refuses, show changes a document that is read.
type deviation struct {
	refuse func(s *Server, r request) (answer, bool)
	show   func(s *Server, at string, doc map[string]any) map[string]any
}

// deviations are the deviations in a vendor's writes and wire. Deviations that need time (jobs, POST, slow media), or
// by which the driver knows a maker, are not simulated on a recording: the personalities of lab/redfish have them.
var deviations = map[redfish.Deviation]deviation{
	redfish.ETagsWeakRefused: when(http.StatusPreconditionFailed, "PreconditionFailed: a weak ETag",
		func(s *Server, r request) bool {
			return r.changes() && strings.HasPrefix(r.Header.Get("If-Match"), "W/")
		}),
	redfish.ETagsQuotedRefused: when(http.StatusPreconditionFailed, "PreconditionFailed: a quoted ETag",
		func(s *Server, r request) bool { return r.changes() && strings.Contains(r.Header.Get("If-Match"), `"`) }),
	redfish.ETagsNeverMatch: when(http.StatusPreconditionFailed, "PreconditionFailed: none is taken",
		func(s *Server, r request) bool { return r.changes() && r.Header.Get("If-Match") != "" }),
	redfish.ETagsRequired: when(http.StatusPreconditionRequired, "PreconditionRequired: If-Match is missing",
		func(s *Server, r request) bool { return r.changes() && r.Header.Get("If-Match") == "" }),
	redfish.ETagsNotForActions: when(http.StatusPreconditionFailed, "PreconditionFailed: of an action",
		func(s *Server, r request) bool { return r.Method == http.MethodPost && r.Header.Get("If-Match") != "" }),
	redfish.IdentityRefused: when(http.StatusNotAcceptable, "NotAcceptable: ask with gzip",
		func(s *Server, r request) bool {
			return r.Method == http.MethodGet && r.Header.Get("Accept-Encoding") == "identity" &&
				strings.Contains(r.at, "Registries/")
		}),
	redfish.MediaWantsCredentials: when(http.StatusBadRequest, "ActionParameterMissing: UserName",
		func(s *Server, r request) bool {
			return r.action("InsertMedia") && r.body["UserName"] == nil
		}),
	redfish.MediaWantsProtocol: when(http.StatusBadRequest, "ActionParameterMissing: TransferProtocolType",
		func(s *Server, r request) bool {
			return r.action("InsertMedia") && r.body["TransferProtocolType"] == nil
		}),
	redfish.MediaRefusesFlags: when(http.StatusBadRequest, "ActionParameterUnknown: Inserted",
		func(s *Server, r request) bool {
			return r.action("InsertMedia") && (r.body["Inserted"] != nil || r.body["WriteProtected"] != nil)
		}),
	redfish.EjectWantsBody: when(http.StatusUnsupportedMediaType, "HeaderMissing: Content-Type",
		func(s *Server, r request) bool { return r.action("EjectMedia") && r.ContentLength == 0 }),
	redfish.AlreadyThereRefused: when(http.StatusConflict, "NoOperation: the machine is so already",
		func(s *Server, r request) bool {
			want := map[any]string{"On": "On", "ForceOff": "Off"}[r.body["ResetType"]]
			of := s.docs[strings.TrimSuffix(r.at, "/Actions/ComputerSystem.Reset")]
			return r.action("ComputerSystem.Reset") && want != "" && of["PowerState"] == want
		}),
	redfish.ContinuousRefused: when(http.StatusBadRequest, "PropertyValueNotInList: Continuous", continuous),
	redfish.NoContinuous: {refuse: when(http.StatusBadRequest, "PropertyValueNotInList: Continuous", continuous).refuse,
		show: func(_ *Server, _ string, doc map[string]any) map[string]any {
			const list = "BootSourceOverrideEnabled@Redfish.AllowableValues"
			boot, _ := doc["Boot"].(map[string]any)
			offered, is := boot[list].([]any)
			if !is {
				return doc
			}
			return merge(doc, map[string]any{"Boot": map[string]any{list: slices.DeleteFunc(slices.Clone(offered),
				func(v any) bool { return v == "Continuous" })}})
		}},
	redfish.ModeRefusedAlong: when(http.StatusBadRequest, "PropertyNotWritable: BootSourceOverrideMode",
		func(s *Server, r request) bool {
			_, target := r.boot("Target")
			_, mode := r.boot("Mode")
			return target && mode
		}),
	redfish.ETagsWeak:     {}, // see shown
	redfish.ETagsUnquoted: {},
	redfish.ExpandFalse: {show: func(_ *Server, at string, doc map[string]any) map[string]any {
		if at != Root {
			return doc
		}
		return merge(doc, map[string]any{"ProtocolFeaturesSupported": map[string]any{"ExpandQuery": false}})
	}},
}

func continuous(_ *Server, r request) bool {
	enabled, _ := r.boot("Enabled")
	return enabled == "Continuous"
}

// when is a deviation that refuses requests that fit.
func when(status int, message string, fits func(s *Server, r request) bool) deviation {
	return deviation{refuse: func(s *Server, r request) (answer, bool) {
		if !fits(s, r) {
			return answer{}, false
		}
		return refused(status, "%s", message), true
	}}
}

// Deviations are the deviations of a personality that a recording can have.
func Deviations(p redfish.Personality) (all []redfish.Deviation) {
	for _, d := range slices.Sorted(maps.Keys(deviations)) {
		if slices.Contains(p.Deviations, d) {
			all = append(all, d)
		}
	}
	return all
}

// refuses answers a request that a deviation refuses.
func (s *Server) refuses(r *http.Request, at string, body map[string]any) (answer, bool) {
	for _, d := range s.c.Deviations {
		h := deviations[d]
		if h.refuse == nil {
			continue
		}
		if a, out := h.refuse(s, request{r, at, body}); out {
			return a, true
		}
	}
	return answer{}, false
}

// shown is an answer to a read, as the deviations have it.
func (s *Server) shown(at string, a answer) answer {
	for _, d := range s.c.Deviations {
		if show := deviations[d].show; show != nil && a.body != nil && a.status == http.StatusOK {
			a.body = show(s, at, a.body)
		}
	}
	weak, unquoted := slices.Contains(s.c.Deviations, redfish.ETagsWeak),
		slices.Contains(s.c.Deviations, redfish.ETagsUnquoted)
	if tag := a.header.Get("Etag"); tag != "" && (weak || unquoted) {
		a.header = maps.Clone(a.header)
		tag = `"` + bare(tag) + `"`
		if weak {
			tag = "W/" + tag
		}
		if unquoted {
			tag = strings.ReplaceAll(tag, `"`, "")
		}
		a.header.Set("Etag", tag)
	}
	return a
}

// bare is an ETag without its form.
func bare(tag string) string { return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) }
