package kube

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/ferrite-metal/ferrite/conductor/documents/objects"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// continueToken is where a list is read on. Later pages show documents as they are by
// then, under the revision of the first: whoever follows from there is told of
// all that has changed meanwhile.
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

// maxPage is how many documents are read at a time.
const maxPage = 500

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
	}
	docs, revision, more, err := s.page(c, sel, from, limit)
	if err != nil {
		return err
	}
	if err := c.exact(revision); err != nil {
		return err
	}
	if from.Version != 0 {
		revision = from.Revision
	}
	next := ""
	if more {
		last := docs[len(docs)-1].Meta()
		if next, err =
			(continueToken{Version: 1, Revision: revision, After: [2]string{last.Namespace, last.Name}}).text(); err != nil {
			return err
		}
	}
	return s.many(c, docs, revision, next)
}

// page is at most limit documents behind a place, or all for 0, the revision
// they were first read at, and whether there are more.
func (s *Server) page(c *call, sel selected, from continueToken,
	limit int) (docs []hostapi.Document, revision int64, more bool, err error) {
	q := objects.Query{Kind: sel.Kind, Namespace: sel.Namespace, Name: sel.Name, Limit: maxPage}
	q.After = objects.Key{Namespace: from.After[0], Name: from.After[1]}
	revision = -1
	for {
		batch, at, err := s.keeper.List(c.Context(), q)
		if err != nil {
			return nil, 0, false, err
		}
		if revision < 0 { // what changes after it is told of to whoever follows
			revision = at
		}
		for _, d := range batch {
			if sel.none || !sel.labels.matches(d.Meta().Labels) {
				continue
			}
			if limit > 0 && len(docs) == limit {
				return docs, revision, true, nil
			}
			docs = append(docs, d)
		}
		if len(batch) < maxPage {
			return docs, revision, false, nil
		}
		last := batch[len(batch)-1].Meta()
		q.After = objects.Key{Namespace: last.Namespace, Name: last.Name}
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
