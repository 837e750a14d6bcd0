package redfish

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
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
		body, _, _ := mend(context.Background(), at, doc, t)
		if err := json.Unmarshal(body, reflect.New(t).Interface()); err != nil {
			all = append(all, fmt.Sprintf("%s: %v", t, err))
		}
	}
	return all
}

// TakeRoom takes all the answerBudget for long answers, until done.
func TakeRoom(t *testing.T) (done func()) {
	t.Helper()
	_, done, err := answerBudget.Read(t.Context(), zeros{}, roomSize+exchange.FreeAnswer-1, nil)
	if err != nil {
		t.Fatalf("the answerBudget for answers is not free: %v", err)
	}
	return done
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
