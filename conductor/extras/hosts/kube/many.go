package kube

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// documents are some that are read as they are needed.
type documents = iter.Seq2[hostapi.Document, error]

// maxPage is how many bytes of documents end a page; clients read on by continue. Clients that name no limit do not
// look for continue, and are given all: a list is written as it is read, and never in memory as a whole.
const maxPage = 8 << 20

// flushBytes are written at a time. A failure before the first of them is answered as such.
const flushBytes = 256 << 10

// many answers with documents in the form that is asked for, at most limit of them unless that is 0. revision is read
// at the end.
func (s *Server) many(c *call, docs documents, limit int, revision *int64) error {
	f, err := c.accepted()
	if err != nil {
		return err
	}
	if err := c.reserve(2*batchBytes + flushBytes); err != nil {
		return err
	}
	l := &listWriter{s: s, c: c, form: f}
	err = l.write(docs, limit, revision)
	if err != nil && l.begun {
		s.log.Debug("a list ended early", "path", c.URL.Path, "err", err)
		panic(http.ErrAbortHandler) // else the written part would pass for a whole answer
	}
	return err
}

// listWriter writes a list: a document at a time, and the list's metadata at the end.
type listWriter struct {
	s     *Server
	c     *call
	form  form
	buf   bytes.Buffer
	n     int // of documents
	begun bool
}

func (l *listWriter) write(docs documents, limit int, revision *int64) error {
	if err := l.head(); err != nil {
		return err
	}
	size := 0
	var last hostapi.Document
	more := false
	for d, err := range docs {
		if err != nil {
			if l.begun && !nodeapi.WasCutOff(l.c.Request, err) { // its status is sent, so no answer reports it
				l.s.log.Error("a list failed", "path", l.c.URL.Path, "err", err)
			}
			return err
		}
		text, err := l.render(d)
		if err != nil {
			return err
		}
		if size += len(text); limit > 0 && (l.n == limit || l.n > 0 && size > maxPage) {
			more = true
			break
		}
		if err := l.item(text); err != nil {
			return err
		}
		last = d
	}
	m := listMeta{ResourceVersion: strconv.FormatInt(*revision, 10)}
	if more {
		var err error
		after := [2]string{last.Meta().Namespace, last.Meta().Name}
		if m.Continue, err = (continueToken{Version: 1, Revision: *revision, After: after}).text(); err != nil {
			return err
		}
	}
	return l.end(m)
}

// items is the member that has the documents.
func (l *listWriter) items() string {
	if l.form.as == "Table" {
		return "rows"
	}
	return "items"
}

func (l *listWriter) head() error {
	about, columns := hostapi.TypeMeta{Kind: l.c.kind.Kind + "List", APIVersion: l.c.kind.APIVersion()}, []column(nil)
	if l.form.as != "" {
		about = hostapi.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: metaGroup + "/v1"}
	}
	if l.form.as == "Table" {
		about.Kind, columns = "Table", columnsOf(l.c.kind.Kind)
	}
	return l.members(struct {
		hostapi.TypeMeta
		Columns []column `json:"columnDefinitions,omitempty"`
	}{about, columns}, "{", `,"`+l.items()+`":[`)
}

func (l *listWriter) end(m listMeta) error {
	if l.form.yaml && l.n == 0 {
		l.buf.WriteString(l.items() + ": []\n")
	}
	err := l.members(struct {
		Metadata listMeta `json:"metadata"`
	}{m}, "],", "}")
	if err != nil {
		return err
	}
	return l.flush()
}

// members writes the members of an object: in JSON between two texts.
func (l *listWriter) members(of any, before, after string) error {
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	if !l.form.yaml {
		l.buf.WriteString(before + string(text[1:len(text)-1]) + after)
		return nil
	}
	text, err = yaml.JSONToYAML(text)
	l.buf.Write(text)
	return err
}

// render is a document as it is shown in the list.
func (l *listWriter) render(d hostapi.Document) ([]byte, error) {
	d, err := masked(l.c, d)
	if err != nil {
		return nil, err
	}
	shown := l.s.shown(l.c, l.form, d)
	if t, ok := shown.(table); ok {
		shown = t.Rows[0]
	}
	return json.Marshal(shown)
}

func (l *listWriter) item(text []byte) error {
	if l.n++; l.form.yaml {
		if l.n == 1 {
			l.buf.WriteString(l.items() + ":\n")
		}
		lines, err := yaml.JSONToYAML(text)
		if err != nil {
			return err
		}
		l.buf.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(string(lines), "\n"), "\n", "\n  ") + "\n")
	} else {
		if l.n > 1 {
			l.buf.WriteByte(',')
		}
		l.buf.Write(text)
	}
	if l.buf.Len() < flushBytes {
		return nil
	}
	return l.flush()
}

// flush writes the buffered part.
func (l *listWriter) flush() error {
	if !l.begun {
		kind := "application/json"
		if l.form.yaml {
			kind = "application/yaml"
		}
		l.c.w.Header().Set("Content-Type", kind)
		l.c.w.WriteHeader(http.StatusOK)
		l.begun = true
	}
	defer l.buf.Reset()
	return l.c.write(l.buf.Bytes())
}
