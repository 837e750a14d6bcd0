package redfish

import (
	"net/http"
	"path"
	"strings"
)

// common holds the first properties of every resource.
type common struct {
	ODataID string `json:"@odata.id"`
	Type    string `json:"@odata.type"`
	ID      string `json:"Id"`
	Name    string
}

// head fills it in; the id is the last part of the path.
func head(at, schema, name string) common {
	return common{ODataID: at, Type: "#" + schema, ID: path.Base(at), Name: name}
}

// link points to another resource.
type link struct {
	ODataID string `json:"@odata.id"`
}

func links(paths ...string) []link {
	list := []link{} // an empty list is [], not null
	for _, p := range paths {
		list = append(list, link{p})
	}
	return list
}

// status is Resource.Status.
type status struct {
	State  string
	Health string
}

// enabled is the status of everything here: a lab's hardware does not wear,
// unless SetHealth says so of the machine as a whole.
func enabled() status { return status{State: "Enabled", Health: "OK"} }

// action is an entry of Actions.
type action struct {
	Target string `json:"target"`
}

// collectionBody is any collection resource.
type collectionBody struct {
	ODataID string `json:"@odata.id"`
	Type    string `json:"@odata.type"`
	Name    string
	Count   int    `json:"Members@odata.count"`
	Members []link `json:"Members"`
}

// collection answers GET with the members given, at the path asked for.
func collection(kind, name string, members ...string) handler {
	return func(r *http.Request) (reply, error) {
		return ok(collectionBody{
			ODataID: strings.TrimRight(r.URL.Path, "/"),
			Type:    "#" + kind + "Collection." + kind + "Collection",
			Name:    name, Count: len(members), Members: links(members...),
		})
	}
}

// ok is a resource read.
func ok(body any) (reply, error) { return reply{body: body}, nil }

// noContent is a change made.
func noContent() (reply, error) { return reply{}, nil }
