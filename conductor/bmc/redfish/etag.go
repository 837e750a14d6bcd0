package redfish

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// tagForm is the way in which a BMC takes the ETags that it gives.
type tagForm int

const (
	tagAsGiven tagForm = iota
	tagStrong          // without W/, and in quotes
	tagBare            // without either
	tagNone
)

// in is a tag in that form; "" for none.
func (f tagForm) in(tag string) string {
	switch f {
	case tagStrong:
		return `"` + tagBare.in(tag) + `"`
	case tagBare:
		return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	case tagNone:
		return ""
	case tagAsGiven:
	}
	return tag
}

// write sends a request that changes a resource, with the ETag in the form that this BMC takes. A 412 for an unchanged
// resource is a fault of the BMC: Lenovo's XCC and Gigabyte's compare weak tags, and AMI's has one tag in its header
// and another in its body (sushy, connector.py; community.general 6434, 11261). Then write sends less and less of the
// tag, and keeps the form that was taken for this BMC. For a resource that did change the caller gets the 412, and
// reads it again. 428 asks for a tag that was not sent (RFC 6585).
func (w *wire) write(r *http.Request) (*http.Response, error) {
	given := r.Header.Get("If-Match")
	answer, err := w.sendTagged(r, w.tags.in(given))
	if err != nil {
		return nil, err
	}
	switch {
	case answer.StatusCode == http.StatusPreconditionRequired && r.Method == http.MethodPatch:
		tags, err := w.tagsOf(r)
		if err != nil {
			return nil, err
		}
		return w.sendTagged(r, append(tags, "*")[0])
	case answer.StatusCode == http.StatusPreconditionFailed && given != "" && w.tags != tagNone:
		return w.climb(r, given, answer)
	}
	return answer, nil
}

// climb goes on after a 412.
func (w *wire) climb(r *http.Request, given string, refusal *http.Response) (*http.Response, error) {
	forms := tries(given, nil)
	if r.Method == http.MethodPatch {
		now, err := w.tagsOf(r)
		if err != nil {
			return nil, err
		}
		if forms = tries(given, now); !slices.Contains(now, given) {
			again, err := w.tagsOf(r)
			if err != nil || slices.Equal(now, again) {
				return refusal, err // it was changed
			}
			forms = nil // it is another with each reading, and means nothing
		}
	}
	sent := []string{w.tags.in(given)}
	for _, try := range append(forms, tagTry{"", tagNone}) {
		if slices.Contains(sent, try.tag) {
			continue
		}
		sent = append(sent, try.tag)
		answer, err := w.sendTagged(r, try.tag)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusPreconditionFailed && answer.StatusCode != http.StatusPreconditionRequired {
			w.log.Info("the BMC does not take its own ETag: another form is sent from now on", "path", r.URL.Path,
				"given", given, "taken", try.tag)
			w.tags = max(w.tags, try.form)
			return answer, nil
		}
		refusal = answer
	}
	return refusal, nil
}

// tagTry is one ETag to send, and its form relative to the given tag.
type tagTry struct {
	tag  string
	form tagForm
}

// tries lists the ETags to send after the given one was refused; the try without a tag is not among them. others are
// tags of the same state of the resource.
func tries(given string, others []string) (all []tagTry) {
	all = append(all, tagTry{tagStrong.in(given), tagStrong}, tagTry{tagBare.in(given), tagBare})
	for _, other := range others {
		all = append(all, tagTry{other, tagAsGiven}, tagTry{tagStrong.in(other), tagStrong})
	}
	return all
}

// tagsOf reads the ETags that the BMC gives the resource of a request now: in the header,
// and in the body.
func (w *wire) tagsOf(r *http.Request) (tags []string, err error) {
	get := r.Clone(r.Context())
	get.Method, get.Body, get.GetBody, get.ContentLength = http.MethodGet, nil, nil, 0
	for _, name := range []string{"If-Match", "Content-Type"} {
		get.Header.Del(name)
	}
	answer, err := w.send(get)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body) // in memory
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	var d struct {
		Tag string `json:"@odata.etag"`
	}
	if body, _, err = mend(r.Context(), r.URL.Path, body, reflect.TypeOf(d)); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(body, &d) // a body without one has the header's alone
	for _, tag := range []string{answer.Header.Get("ETag"), d.Tag} {
		if tag != "" && len(tag) < maxTag && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

// maxTag bounds an ETag.
const maxTag = 512

// sendTagged sends a request with an ETag, "" for none.
func (w *wire) sendTagged(r *http.Request, tag string) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	if again.Header.Del("If-Match"); tag != "" {
		again.Header.Set("If-Match", tag)
	}
	return w.send(again)
}
