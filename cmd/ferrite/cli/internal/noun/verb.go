package noun

import (
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/caution"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/output"
)

// Verb is a command that is one request, or one for each value of an argument that repeats. {noun} and {arg} in its
// texts stand for the noun's Name and Arg; {0} and {1} in Path, Body and Done for its arguments.
type Verb struct {
	Use, Short, Long, Example string
	Method                    string         // GET when empty
	Of                        string         // path of all records; the noun's when empty
	Path                      string         // after it
	Body                      map[string]any // fields beside the flags
	Fields                    []Field        // flags, beside the noun's of Create and Set
	Removes                   bool           // a PATCH that removes fields of the noun
	// Key is the key of the answer's list; "[]" if the answer is the list, "{}" if it maps names, "" for one record.
	Key     string
	Columns []output.Column
	Rows    func(*client.Session, json.RawMessage) (*output.Table, error) // nil: of Columns, or of the fields
	Done    string                                                        // without an answer; "" for "{0}: {verb} done"
	Care    caution.Care                                                  // of verbs with NODE...
	// Also adds to the command; its result, if any, continues after the request.
	Also func(s *client.Session, cmd *cobra.Command) After
}

// After continues after the request of a verb, and returns the record to print.
type After func(cmd *cobra.Command, args []string, reply json.RawMessage) (json.RawMessage, error)

// List lists all records.
var List = Verb{Use: "list", Short: "List every {noun}", Path: "?detail=True", Key: "{path}", Fields: Paged()}

// ListOf is List, of all machines or of one.
var ListOf = Verb{Use: "list [--node NODE]", Short: "List every {noun}", Path: "?detail=True", Key: "{path}",
	Fields: Paged(Field{Name: "node", Help: "only records of this machine"})}

// Show shows a record.
var Show = Verb{Use: "show {arg}", Short: "Show one {noun}", Path: "/{0}"}

// Delete deletes records.
var Delete = Verb{Use: "delete {arg}...", Short: "Delete one or more, by UUID or name", Method: http.MethodDelete,
	Path: "/{0}", Done: "deleted {noun} {0}"}

// Set changes a record by the flags of the noun.
func Set(short string) Verb {
	return Verb{Use: "set {arg} [--FIELD VALUE]...", Short: short, Method: http.MethodPatch, Path: "/{0}"}
}

// Unset removes fields of a record.
var Unset = Verb{Use: "unset {arg} [--FIELD]...", Short: "Remove fields of one {noun}", Method: http.MethodPatch,
	Path: "/{0}", Removes: true}

// Create makes a record of the flags of the noun.
func Create(use, short, example string) Verb {
	return Verb{Use: "create " + use, Short: short, Example: example, Method: http.MethodPost}
}
