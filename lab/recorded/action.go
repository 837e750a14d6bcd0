package recorded

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const resetAction = "/Actions/ComputerSystem.Reset"

// actions are the actions that a recorded BMC carries out, by the end of their path. The BMC refuses other actions: a
// machine that does nothing must not look as if it did.
var actions = map[string]func(s *Server, of string, body map[string]any) answer{
	resetAction:                           (*Server).reset,
	"/Actions/Manager.Reset":              (*Server).resetManager,
	"/Actions/VirtualMedia.InsertMedia":   (*Server).insert,
	"/Actions/VirtualMedia.EjectMedia":    (*Server).eject,
	"/Actions/Bios.ResetBios":             (*Server).accept,
	"/Actions/SecureBoot.ResetKeys":       (*Server).accept,
	"/Actions/UpdateService.SimpleUpdate": (*Server).update,

	"/Actions/Oem/AMIVirtualMedia.EnableRMedia": (*Server).enableMedia,
}

// post makes a session, or carries out an action.
func (s *Server) post(at string, body map[string]any) answer {
	if at == s.sessionsPath() {
		return s.login(at, body)
	}
	for end, do := range actions {
		of := at[:max(len(at)-len(end), 0)]
		if !strings.EqualFold(at[len(of):], end) {
			continue
		}
		of = s.spelling(of)
		if _, has := s.docs[of]; !has || !offers(s.docs[of], at) {
			return refused(http.StatusNotFound, "ActionNotSupported: %s", at)
		}
		return do(s, of, body)
	}
	return refused(http.StatusBadRequest, "ActionNotSupported: a recorded BMC cannot do %s", at)
}

// offers reports whether a document names an action's path as a target.
func offers(doc map[string]any, target string) bool {
	all, _ := doc["Actions"].(map[string]any)
	if oem, is := all["Oem"].(map[string]any); is {
		all = merge(all, oem)
	}
	for _, a := range all {
		one, _ := a.(map[string]any)
		if to, _ := one["target"].(string); strings.EqualFold(strings.TrimSuffix(to, "/"), target) {
			return true
		}
	}
	return false
}

// resets have the power state that each type of reset leads to; "" for none. Off is HPE Cray's alone.
var resets = map[string]string{
	"On": "On", "ForceOn": "On", "Off": "Off", "ForceOff": "Off", "GracefulShutdown": "Off", "ForceRestart": "On",
	"GracefulRestart": "On", "PowerCycle": "On", "FullPowerCycle": "On", "Nmi": "",
}

func (s *Server) reset(of string, body map[string]any) answer {
	kind, _ := body["ResetType"].(string)
	power, known := resets[kind]
	if kind == "PushPowerButton" {
		known, power = true, map[bool]string{true: "Off", false: "On"}[s.docs[of]["PowerState"] == "On"]
	}
	if offered := s.offeredResets(of); !known || len(offered) > 0 && !slices.Contains(offered, kind) {
		return refused(http.StatusBadRequest, "ActionParameterValueNotInList: %q of ResetType is not one of %v",
			kind, offered)
	}
	switch {
	case power == "On" && s.docs[of]["PowerState"] == "On": // it stays on: a client could not observe the start
		s.started(of)
	case power != "":
		s.power = append(s.power, change{of, s.c.Now().Add(s.c.PowerDelay), power})
		s.settle()
	}
	return answer{status: http.StatusNoContent}
}

// offeredResets are the reset types that the system names, inline or in its ActionInfo.
func (s *Server) offeredResets(of string) (all []string) {
	actions, _ := s.docs[of]["Actions"].(map[string]any)
	reset, _ := actions["#ComputerSystem.Reset"].(map[string]any)
	list, _ := reset["ResetType@Redfish.AllowableValues"].([]any)
	info, _ := reset["@Redfish.ActionInfo"].(string)
	parameters, _ := s.docs[s.spelling(strings.TrimSuffix(info, "/"))]["Parameters"].([]any)
	for _, p := range parameters {
		one, _ := p.(map[string]any)
		if more, is := one["AllowableValues"].([]any); is && one["Name"] == "ResetType" {
			list = append(list, more...)
		}
	}
	for _, v := range list {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// resetManager ends all sessions, as a BMC that starts again does.
func (s *Server) resetManager(string, map[string]any) answer {
	for token, path := range s.sessions {
		delete(s.sessions, token)
		delete(s.docs, path)
	}
	return answer{status: http.StatusNoContent}
}

func (s *Server) accept(string, map[string]any) answer { return answer{status: http.StatusNoContent} }

func (s *Server) insert(of string, body map[string]any) answer {
	image, _ := body["Image"].(string)
	if image == "" {
		return refused(http.StatusBadRequest, "ActionParameterMissing: Image")
	}
	if s.docs[of]["Inserted"] == true {
		return refused(http.StatusBadRequest, "ResourceInUse: %v is inserted", s.docs[of]["Image"])
	}
	s.docs[of] = merge(s.docs[of], map[string]any{"Image": image, "Inserted": true, "ConnectedVia": "URI",
		"ImageName": image[strings.LastIndex(image, "/")+1:]})
	return answer{status: http.StatusNoContent}
}

func (s *Server) eject(of string, _ map[string]any) answer {
	s.docs[of] = merge(s.docs[of], map[string]any{"Image": nil, "ImageName": nil, "Inserted": false,
		"ConnectedVia": "NotConnected"})
	return answer{status: http.StatusNoContent}
}

// update answers with a task that is done.
func (s *Server) update(string, map[string]any) answer {
	s.tasks++
	at := fmt.Sprintf("%s/TaskService/Tasks/recorded-%d", Root, s.tasks)
	doc := map[string]any{"@odata.id": at, "@odata.type": "#Task.v1_4_3.Task", "Id": fmt.Sprintf("recorded-%d", s.tasks),
		"Name": "Update", "TaskState": "Completed", "TaskStatus": "OK", "PercentComplete": 100}
	s.docs[at] = doc
	return answer{status: http.StatusAccepted, body: doc, header: http.Header{"Location": {at}}}
}

// enableMedia gives AMI's manager a virtual CD, as it does where remote media were switched off.
func (s *Server) enableMedia(of string, body map[string]any) answer {
	list := s.spelling(linkOf(s.docs[of], "VirtualMedia"))
	if body["RMediaState"] != "Enable" || s.docs[list] == nil {
		return refused(http.StatusBadRequest, "ActionParameterValueNotInList: %v of RMediaState", body["RMediaState"])
	}
	at := list + "/CD1"
	s.docs[at] = map[string]any{"@odata.id": at, "@odata.type": "#VirtualMedia.v1_3_2.VirtualMedia", "Id": "CD1",
		"Name": "Virtual CD", "MediaTypes": []any{"CD", "DVD"}, "Inserted": false, "Image": nil, "Actions": map[string]any{
			"#VirtualMedia.InsertMedia": map[string]any{"target": at + "/Actions/VirtualMedia.InsertMedia"},
			"#VirtualMedia.EjectMedia":  map[string]any{"target": at + "/Actions/VirtualMedia.EjectMedia"}}}
	s.docs[list] = merge(s.docs[list], map[string]any{"Members": []any{map[string]any{"@odata.id": at}},
		"Members@odata.count": 1})
	s.docs[of] = merge(s.docs[of], map[string]any{"Oem": map[string]any{"Ami": map[string]any{
		"VirtualMedia": map[string]any{"RMediaStatus": "Enabled"}}}})
	return answer{status: http.StatusNoContent}
}
