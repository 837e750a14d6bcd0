package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// ImageFaultKind is a way image servers fail.
type ImageFaultKind string

// The faults of an image server.
const (
	ImageNotFound ImageFaultKind = "not-found" // 404
	ImageCut      ImageFaultKind = "cut"       // the connection ends after Bytes, though more was promised
	ImageSlow     ImageFaultKind = "slow"      // Rate bytes per second
	ImageNoRange  ImageFaultKind = "no-range"  // the whole file, also for a range
)

// ImageFault is one failure in force for one file.
type ImageFault struct {
	Kind  ImageFaultKind `json:"kind"`
	Bytes int64          `json:"bytes,omitempty"`
	Rate  int64          `json:"rate,omitempty"`
	// Times is how many requests it hits before it clears; 0 is all.
	Times int `json:"times,omitempty"`
}

func (f ImageFault) validate() error {
	switch f.Kind {
	case ImageNotFound, ImageNoRange:
		return nil
	case ImageCut:
		if f.Bytes < 0 {
			return fmt.Errorf("image fault cut: expected bytes of 0 or more, found %d", f.Bytes)
		}
		return nil
	case ImageSlow:
		if f.Rate < 1 {
			return fmt.Errorf("image fault slow: expected a rate of at least 1 byte per second, found %d", f.Rate)
		}
		return nil
	default:
		return fmt.Errorf("image fault %q is not known", f.Kind)
	}
}

// ImageCount counts the reads of one file.
type ImageCount struct {
	Requests int   `json:"requests"`
	Ranges   int   `json:"ranges"` // requests for a part
	Bytes    int64 `json:"bytes"`  // of bodies sent
}

// Images serves the files of a folder over HTTP, with failures on demand.
type Images struct {
	root *os.Root

	mu     sync.Mutex
	faults map[string]*ImageFault
	counts map[string]ImageCount
}

// NewImages serves dir, which is made when it is not there.
func NewImages(dir string) (*Images, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	root, err := os.OpenRoot(dir) // so that no path leads out of it
	if err != nil {
		return nil, fmt.Errorf("images: %w", err)
	}
	return &Images{root: root, faults: map[string]*ImageFault{}, counts: map[string]ImageCount{}}, nil
}

// Close stops serving.
func (s *Images) Close() error { return s.root.Close() }

// SetFault puts a fault in force for the file called name, as in its URL
// without the leading slash.
func (s *Images) SetFault(name string, f ImageFault) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[name] = &f
	return nil
}

// ClearFaults ends all faults.
func (s *Images) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
}

// Counts returns the reads so far, by file name.
func (s *Images) Counts() map[string]ImageCount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// begin counts a request and takes the fault it meets; none is the zero fault.
func (s *Images) begin(name string, ranged bool) ImageFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts[name]
	c.Requests++
	if ranged {
		c.Ranges++
	}
	s.counts[name] = c
	f := s.faults[name]
	if f == nil {
		return ImageFault{}
	}
	hit := *f
	if f.Times > 0 {
		if f.Times--; f.Times == 0 {
			delete(s.faults, name)
		}
	}
	return hit
}

func (s *Images) sent(name string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts[name]
	c.Bytes += int64(n)
	s.counts[name] = c
}

// ServeHTTP answers GET and HEAD of a file.
func (s *Images) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "images are only read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	file, info, err := s.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	fault := s.begin(name, r.Header.Get("Range") != "")
	out := &imageWriter{ResponseWriter: w, fault: fault, sent: func(n int) { s.sent(name, n) }}
	switch fault.Kind {
	case ImageNotFound:
		http.NotFound(w, r)
		return
	case ImageNoRange:
		r.Header.Del("Range")
	case ImageCut, ImageSlow: // the writer's affair
	}
	http.ServeContent(out, r, info.Name(), info.ModTime(), file)
	if out.cut {
		panic(http.ErrAbortHandler) // closes the connection before the promised length
	}
}

// open opens a regular file of the folder.
func (s *Images) open(name string) (*os.File, os.FileInfo, error) {
	if name == "" {
		return nil, nil, fs.ErrNotExist
	}
	file, err := s.root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// errCut stops a body where the fault wants it.
var errCut = errors.New("cut short by a fault")

// tick is how often a slow body goes on.
const tick = 50 * time.Millisecond

// imageWriter sends a body as the fault has it, and counts it.
type imageWriter struct {
	http.ResponseWriter
	fault ImageFault
	sent  func(n int)
	total int64
	cut   bool
}

// WriteHeader keeps quiet about ranges when the fault ignores them.
func (w *imageWriter) WriteHeader(status int) {
	if w.fault.Kind == ImageNoRange {
		w.Header().Del("Accept-Ranges")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer; with it, and without io.ReaderFrom, the body
// passes in pieces of 32 KiB.
func (w *imageWriter) Write(p []byte) (int, error) {
	switch w.fault.Kind {
	case ImageCut:
		if left := w.fault.Bytes - w.total; int64(len(p)) > left {
			n, err := w.pass(p[:left])
			w.cut = true
			// Without the flush, bytes in net/http's buffer would be lost with the rest.
			err = errors.Join(err, http.NewResponseController(w.ResponseWriter).Flush())
			return n, errors.Join(err, errCut)
		}
	case ImageSlow:
		return w.slowly(p)
	case ImageNotFound, ImageNoRange:
	}
	return w.pass(p)
}

// slowly sends p at the fault's rate, in pieces of one tick's worth.
func (w *imageWriter) slowly(p []byte) (int, error) {
	piece := int(max(1, w.fault.Rate*int64(tick)/int64(time.Second)))
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+piece)]
		n, err := w.pass(part)
		done += n
		if err != nil {
			return done, err
		}
		if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
			return done, err
		}
		time.Sleep(time.Duration(len(part)) * time.Second / time.Duration(w.fault.Rate))
	}
	return done, nil
}

func (w *imageWriter) pass(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.total += int64(n)
	w.sent(n)
	return n, err
}
