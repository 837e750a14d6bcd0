package ui

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// docsPath is where the pages of the documentation are, below Path.
const docsPath = "docs/"

// docs serves the documentation. It reads a page at its first request and keeps it compressed. Files are read one after
// the other: callers without a login make it render each page once, and no two at a time.
type docs struct {
	read  func(name string) ([]byte, error)
	mutex sync.Mutex
	files map[string]*file
}

// serve answers with a file. The name of a folder means its index.
func (d *docs) serve(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" || strings.HasSuffix(name, "/") {
		name += index
	}
	f, err := d.file(name)
	if err != nil && path.Ext(name) == "" { // a folder without its slash, from which links would lead elsewhere
		if _, err := d.file(name + "/" + index); err == nil {
			http.Redirect(w, r, path.Base(name)+"/", http.StatusFound)
			return
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		http.Error(w, "The documentation has no such page: "+Path+docsPath+" lists the pages.", http.StatusNotFound)
	case err != nil:
		http.Error(w, "The page cannot be shown: "+err.Error(), http.StatusInternalServerError)
	default:
		f.send(w, r)
	}
}

func (d *docs) file(name string) (*file, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if f := d.files[name]; f != nil {
		return f, nil
	}
	content, err := d.read(name)
	if err != nil {
		return nil, err
	}
	f := packed(content, kindOf(name))
	if strings.HasSuffix(name, ".png") { // which the program holds already, and which gzip makes no smaller
		return f, nil
	}
	if d.files == nil {
		d.files = map[string]*file{}
	}
	d.files[name] = f
	return f, nil
}
