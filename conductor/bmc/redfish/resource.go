package redfish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"

	"github.com/stmcginnis/gofish/schemas"
)

// reference is a link to another resource.
type reference struct {
	Path string `json:"@odata.id"`
}

func paths(all []reference) []string {
	var list []string
	for _, r := range all {
		list = append(list, r.Path)
	}
	return list
}

// root has the links of the service root that steps need.
type root struct {
	Systems, Tasks, Registries, UpdateService, Managers, EventService reference
	Vendor                                                            string // since ServiceRoot.v1_5_0
}

func (s *session) root() (r root, err error) {
	_, err = s.get(defaultRoot, &r)
	return r, err
}

// systemLinks has the links of a system that steps need.
type systemLinks struct {
	BiosVersion  string
	Manufacturer string
	Boot         struct {
		Mode        schemas.BootSourceOverrideMode `json:"BootSourceOverrideMode"`
		BootOptions reference
	}
	Bios, SecureBoot, Storage, VirtualMedia reference
	Processors, EthernetInterfaces          reference
	Links                                   struct {
		ManagedBy, Chassis []reference
		Oem                struct {
			Dell struct{ DellRaidService reference }
		}
	}
}

func (s *session) systemLinks() (l systemLinks, err error) {
	sys, err := s.read()
	if err != nil {
		return l, err
	}
	return l, s.reread(sys, &l)
}

// get reads a resource into v, and answers its ETag, "" where there is none.
func (s *session) get(path string, v any) (etag string, err error) {
	if err := checkLink(path); err != nil {
		return "", err
	}
	s.wire.expect(reflect.TypeOf(v).Elem())
	answer, err := s.client.Get(path)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(v); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return answer.Header.Get("ETag"), nil
}

// members lists a collection. gofish's own lists are not used: they follow pages without end, and decode each member
// whole. A member without a link is left out and noted, unless there is no other.
func (s *session) members(path string) ([]string, error) {
	var all []string
	var bad error
	seen := map[string]bool{}
	for path != "" {
		if seen[path] {
			return nil, broken("the BMC's collection has a page that follows itself: @odata.nextLink names %.100q again", path)
		}
		if seen[path] = true; len(seen) > maxPages {
			return nil, broken("the BMC's collection has more than %d pages", maxPages)
		}
		var c struct {
			Members []reference
			Next    string `json:"Members@odata.nextLink"`
		}
		if _, err := s.get(path, &c); err != nil {
			return nil, err
		}
		for i, member := range paths(c.Members) {
			if err := checkLink(member); err != nil {
				bad = err
				s.wire.odd.note(Oddity{path, fmt.Sprintf("Members[%d]", i), "no link", "left out"})
			} else {
				all = append(all, member)
			}
		}
		if path = c.Next; len(all) > maxMembers {
			return nil, broken("the BMC's collection has more than %d members", maxMembers)
		}
	}
	if len(all) == 0 {
		return nil, bad
	}
	return all, nil
}

// patch changes a resource, with the ETag it has, as some BMCs demand. A resource that
// changed in between is read again.
func (s *session) patch(path string, body any) error {
	for try := 1; ; try++ {
		etag, err := s.get(path, &struct{}{})
		if err != nil {
			return err
		}
		header := map[string]string{}
		if etag != "" {
			header["If-Match"] = etag
		}
		answer, err := s.client.PatchWithHeaders(path, body, header)
		if err == nil {
			return answer.Body.Close()
		}
		if status(err) != http.StatusPreconditionFailed || try == changes {
			return err
		}
	}
}

// ask posts to an action or a collection, or deletes. It returns the path of the BMC's task, "" where the request was
// done at once. A nil body is no body.
func (s *session) ask(method, path string, body map[string]any) (task string, err error) {
	if path == "" {
		return "", broken("the BMC does not offer the action: update its firmware, or leave the step out")
	}
	if err := checkLink(path); err != nil {
		return "", err
	}
	var content io.ReadSeeker
	kind := ""
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return "", err
		}
		content, kind = bytes.NewReader(text), "application/json"
	}
	answer, err := s.client.RunRawRequestWithHeaders(method, path, content, kind, nil)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		return "", nil
	}
	answered, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	return taskPath(answer.Header.Get("Location"), answered), nil
}

// taskPath finds the task in a 202: in the body, or, where that is empty or
// another resource, the monitor that Location names (DSP0266, 13.2).
func taskPath(location string, body []byte) string {
	var t struct {
		Path string `json:"@odata.id"`
		bmcTask
	}
	if json.Unmarshal(body, &t) == nil && t.Path != "" && t.TaskState != "" {
		return t.Path
	}
	if u, err := url.Parse(location); err == nil {
		return u.Path
	}
	return location
}
