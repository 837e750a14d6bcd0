package redfish

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"
)

// typesFor are the types into which the driver decodes documents at a path.
func typesFor(at string) []reflect.Type {
	switch {
	case at == "/redfish/v1":
		return []reflect.Type{reflect.TypeFor[gofish.Service](), reflect.TypeFor[root]()}
	case strings.Count(at, "/") == 4 && strings.Contains(at, "/Systems/"):
		return []reflect.Type{reflect.TypeFor[schemas.ComputerSystem](), reflect.TypeFor[systemLinks](),
			reflect.TypeFor[partLinks]()}
	case strings.HasSuffix(at, "ActionInfo"):
		return []reflect.Type{reflect.TypeFor[schemas.ActionInfo]()}
	}
	return []reflect.Type{reflect.TypeFor[struct {
		Members []reference
		Next    string `json:"Members@odata.nextLink"`
	}](), reflect.TypeFor[bios](), reflect.TypeFor[manager](), reflect.TypeFor[driveDoc](), reflect.TypeFor[storageDoc](),
		reflect.TypeFor[ethernetInterface](), reflect.TypeFor[adapterDoc](), reflect.TypeFor[networkPort](),
		reflect.TypeFor[networkFunction](), reflect.TypeFor[networkAdapter](), reflect.TypeFor[light](),
		reflect.TypeFor[bmcTask]()}
}

// Undecoded says which types do not take a document once it is mended.
func Undecoded(doc []byte, at string) (all []string) {
	for _, t := range typesFor(at) {
		body, _ := mend(at, doc, t)
		if err := json.Unmarshal(body, reflect.New(t).Interface()); err != nil {
			all = append(all, fmt.Sprintf("%s: %v", t, err))
		}
	}
	return all
}
