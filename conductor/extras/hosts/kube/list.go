package kube

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/node/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// continueToken is the place where a list goes on. Later pages show documents in their later state, under the revision
// of the first page. A watch from there reports all changes since.
type continueToken struct {
	Version  int       `json:"v"`
	Revision int64     `json:"rv"`
	After    [2]string `json:"after"` // namespace and name
}

func (p continueToken) text() (string, error) {
	text, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(text), err
}

func parseContinueToken(token string) (p continueToken, err error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p.Version != 1 || p.After == [2]string{} || p.Revision < 0 {
		return p, badRequest("continue key is not valid: list again from the beginning")
	}
	return p, nil
}

// Documents are read a batch at a time: some have hundreds of KiB.
const (
	batchDocuments = 100
	batchBytes     = 1 << 20
)

// list answers with the documents of a kind.
func (s *Server) list(c *call) error {
	sel, err := c.selected()
	if err != nil {
		return err
	}
	limit, err := c.count("limit")
	if err != nil {
		return err
	}
	var from continueToken
	if token := c.arg("continue"); token != "" {
		if from, err = parseContinueToken(token); err != nil {
			return err
		}
		// No client could follow from the revision of the first page when its events are gone.
		if _, err := s.keeper.Watch(sel.Filter, from.Revision); err != nil {
			return err
		}
	}
	revision := from.Revision
	docs := s.read(c, sel, objects.Key{Namespace: from.After[0], Name: from.After[1]}, func(at int64) error {
		if from.Version == 0 {
			revision = at
		}
		return c.exact(at)
	})
	return s.many(c, docs, limit, &revision)
}

// read reads the selected documents behind a place, a few in memory at a time. first gets the revision of the first
// batch: a watch from there reports all later changes.
func (s *Server) read(c *call, sel selected, after objects.Key, first func(revision int64) error) documents {
	return func(yield func(hostapi.Document, error) bool) {
		q := objects.Query{Kind: sel.Kind, Namespace: sel.Namespace, Name: sel.Name, Limit: batchDocuments, Bytes: batchBytes,
			After: after}
		for {
			batch, revision, err := s.keeper.List(c.Context(), q)
			if err == nil && first != nil {
				err, first = first(revision), nil
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, d := range batch {
				if !sel.none && sel.labels.matches(d.Meta().Labels) && !yield(d, nil) {
					return
				}
				q.After = objects.Key{Namespace: d.Meta().Namespace, Name: d.Meta().Name}
			}
			if len(batch) == 0 {
				return
			}
		}
	}
}

// exact refuses to list documents as they were: they are kept as they are alone.
func (c *call) exact(revision int64) error {
	switch match := c.arg("resourceVersionMatch"); match {
	case "", "NotOlderThan":
		return nil
	case "Exact":
		if c.arg("resourceVersion") != strconv.FormatInt(revision, 10) {
			return objects.ErrExpired
		}
		return nil
	default:
		return badRequest("resourceVersionMatch %q: expected Exact or NotOlderThan", match)
	}
}

// count is a parameter that is a number; 0 when it is left out.
func (c *call) count(name string) (int, error) {
	text := c.arg(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s=%q: expected a number", name, text)
	}
	return n, nil
}
