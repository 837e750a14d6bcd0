package recorded

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/lab/redfish"
)

// simulated are the deviations of lab/redfish that a recording can have. It cannot have
// deviations that need time (jobs, POST, slow media), or by which the driver knows a maker.
var simulated = []redfish.Deviation{
	redfish.AlreadyThereRefused, redfish.ContinuousRefused, redfish.EjectWantsBody, redfish.ETagsNeverMatch,
	redfish.ETagsNotForActions, redfish.ETagsQuotedRefused, redfish.ETagsRequired, redfish.ETagsUnquoted,
	redfish.ETagsWeak, redfish.ETagsWeakRefused, redfish.ExpandFalse, redfish.IdentityRefused,
	redfish.MediaRefusesFlags, redfish.MediaWantsCredentials, redfish.MediaWantsProtocol, redfish.ModeRefusedAlong,
	redfish.NoContinuous,
}

// Deviations are the deviations of a personality that a recording can have.
func Deviations(p redfish.Personality) []redfish.Deviation {
	return slices.DeleteFunc(slices.Clone(simulated), func(d redfish.Deviation) bool {
		return !slices.Contains(p.Deviations, d)
	})
}

// refuses answers a request that a deviation refuses.
func (s *Server) refuses(r *http.Request, at string, body map[string]any) (answer, bool) {
	r = r.Clone(r.Context())
	r.URL.Path = at
	on := func() bool { return s.docs[strings.TrimSuffix(at, resetAction)]["PowerState"] == "On" }
	err := redfish.Refuse(s.c.Deviations, redfish.Ask{Request: r, Body: body, On: on})
	if err == nil {
		return answer{}, false
	}
	status, text := redfish.Problem(err)
	return answer{status: status, raw: text}, true
}

// shown is an answer to a read, as the deviations have it.
func (s *Server) shown(at string, a answer) answer {
	has := func(d redfish.Deviation) bool { return a.body != nil && slices.Contains(s.c.Deviations, d) }
	if has(redfish.ExpandFalse) && at == Root {
		a.body = merge(a.body, map[string]any{"ProtocolFeaturesSupported": map[string]any{"ExpandQuery": false}})
	}
	const list = "BootSourceOverrideEnabled@Redfish.AllowableValues"
	boot, _ := a.body["Boot"].(map[string]any)
	if offered, is := boot[list].([]any); is && has(redfish.NoContinuous) {
		left := slices.DeleteFunc(slices.Clone(offered), func(v any) bool { return v == "Continuous" })
		a.body = merge(a.body, map[string]any{"Boot": map[string]any{list: left}})
	}
	if tag := a.header.Get("Etag"); has(redfish.ETagsWeak) || has(redfish.ETagsUnquoted) {
		a.header = maps.Clone(a.header)
		a.header.Set("Etag", redfish.Personality{Deviations: s.c.Deviations}.ShowTag(`"`+bare(tag)+`"`, false))
	}
	return a
}

// bare is an ETag without its form.
func bare(tag string) string { return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) }
