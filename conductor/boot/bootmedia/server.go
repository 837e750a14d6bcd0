package bootmedia

import (
	"bytes"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/images/bootiso"
	"github.com/ferrite-metal/ferrite/images/iso"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/pxe"
)

// Prefix is where media are served.
const Prefix = "/media/"

// Conductor is the part of the engine that is needed here.
type Conductor interface {
	Node(ctx context.Context, ref string) (node.Node, error)
	BootStage(uuid, stage, detail string)
	MediumRefused(ctx context.Context, n node.Node, from netip.Addr, why string)
}

// Config is the configuration of a Server.
type Config struct {
	Conductor Conductor
	// Content returns the contents of a node's medium.
	Content func(ctx context.Context, n node.Node) (pxe.Boot, error)
	// Settings returns the kernel words of a node's agent, for a medium that has only these.
	Settings func(ctx context.Context, n node.Node) (string, error)
	URL      string       // base under which BMCs reach the handler, without a slash at the end
	Loaders  string       // folder with the boot loaders of media, see bootiso.ReadLoaders
	Key      []byte       // makes paths that cannot be guessed; of a conductor that starts again the same
	Client   *http.Client // reads kernels and ramdisks at http(s) URLs
	Log      *slog.Logger
}

// Server is an http.Handler for Prefix, and the engine's BootMedia.
type Server struct {
	Config
	loaders func() (loaders, error)
	remotes remotes

	mutex   sync.Mutex
	reading map[string]*reading // by path
}

// loaders are the boot loaders with the partition made of them.
type loaders struct {
	bootiso.Loaders
	esp []byte
}

// maxReading bounds the media that are remembered. The oldest are forgotten: one of them is
// served all the same, to the first that asks.
const maxReading = 4096

// reading is a medium that was given out.
type reading struct {
	node  string
	since time.Time
	from  netip.Addr // its reader; zero for none yet
	seen  map[bootiso.Part]bool
}

// New makes a server. The boot loaders are read when the first medium is made, so that a conductor
// without them boots by other ways.
func New(c Config) *Server {
	s := &Server{Config: c, reading: map[string]*reading{}, remotes: remotes{client: c.Client}}
	s.loaders = sync.OnceValues(func() (l loaders, err error) {
		if l.Loaders, err = bootiso.ReadLoaders(os.DirFS(c.Loaders)); err == nil {
			l.esp, err = bootiso.ESP(l.GRUB)
		}
		return l, err
	})
	return s
}

// MediumURL is where the BMC of n reads the medium of the boot that its run is at, or of its instance. It refuses a
// node for which no medium can be made: before its machine is switched on.
func (s *Server) MediumURL(ctx context.Context, n node.Node) (string, error) {
	path, ok := s.path(n, bootOf(n), bootImage)
	if !ok {
		return "", node.Refuse(node.Invalid, "node %s boots no medium now", n.UUID)
	}
	image, files, err := s.compose(ctx, n, nil)
	if err != nil {
		return "", node.Refuse(node.Invalid, "the boot medium of node %s cannot be made: %v", n.UUID, err)
	}
	files.close()
	s.remember(path, n.UUID)
	s.Log.Debug("boot medium", "node", n.UUID, "bytes", image.Size())
	return n.MediaURL(s.URL) + path, nil
}

// ServeHTTP serves a medium: GET and HEAD, with ranges.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "a boot medium is read by GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	n, status, why := s.admit(r)
	if status != http.StatusOK {
		http.Error(w, why, status)
		return
	}
	var content io.ReadSeeker
	var err error
	if strings.HasSuffix(r.URL.Path, settingsImage) {
		var image []byte
		image, err = s.settings(r.Context(), n)
		content = bytes.NewReader(image)
	} else {
		var image *iso.Image
		var files open
		if image, files, err = s.compose(r.Context(), n, s.watch(r.URL.Path, n.UUID)); err == nil {
			defer files.close()
			content = io.NewSectionReader(image, 0, image.Size())
		}
	}
	if err != nil {
		s.Log.Error("boot medium not served", "node", n.UUID, "err", err)
		http.Error(w, "the medium cannot be made, see the conductor's log", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", time.Time{}, content)
}

// notFound is the one answer for paths that were never given out, and for paths of nodes that do not exist.
const notFound = "there is no such boot medium"

// admit finds the node of a requested medium. It refuses a path after its boot is over, and a second reader.
func (s *Server) admit(r *http.Request) (n node.Node, status int, why string) {
	path, from := r.URL.Path, clientaddr.Of(r)
	uuid, boot, image, ok := nodeOf(path)
	if !ok {
		return n, http.StatusNotFound, notFound
	}
	n, err := s.Conductor.Node(r.Context(), uuid)
	if err != nil || n.UUID != uuid {
		return n, http.StatusNotFound, notFound
	}
	if valid, ok := s.path(n, boot, image); !ok || !hmac.Equal([]byte(path), []byte(valid)) {
		if !s.given(path) {
			s.Log.Debug("boot medium refused", "node", uuid, "from", from, "err", "unknown path")
			return n, http.StatusNotFound, notFound
		}
		s.Conductor.MediumRefused(r.Context(), n, from, "its boot is over: the BMC still has this medium in its "+
			"drive, or another caller knows its path")
		return n, http.StatusGone, "the boot of this medium is over"
	}
	if by := s.claim(path, n, from); by != from {
		s.Conductor.MediumRefused(r.Context(), n, from, fmt.Sprintf("%s reads this medium", by))
		return n, http.StatusForbidden, "another address reads this boot medium"
	}
	return n, http.StatusOK, ""
}

// remember keeps that a path was given out.
func (s *Server) remember(path, uuid string) *reading {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.rememberLocked(path, uuid)
}

func (s *Server) rememberLocked(path, uuid string) *reading {
	if m := s.reading[path]; m != nil {
		return m
	}
	if len(s.reading) >= maxReading {
		oldest := ""
		for p, m := range s.reading {
			if oldest == "" || m.since.Before(s.reading[oldest].since) {
				oldest = p
			}
		}
		delete(s.reading, oldest)
	}
	m := &reading{node: uuid, since: time.Now(), seen: map[bootiso.Part]bool{}}
	s.reading[path] = m
	return m
}

// given reports whether this process gave a path out, or served it.
func (s *Server) given(path string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.reading[path] != nil
}

// claim makes from the reader of a medium that has none, and returns its reader. The BMC's own
// address may always read: then the answer is from itself.
func (s *Server) claim(path string, n node.Node, from netip.Addr) netip.Addr {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	m := s.rememberLocked(path, n.UUID)
	if !m.from.IsValid() {
		m.from = from
	}
	if from == bmcOf(n) {
		return from
	}
	return m.from
}

// bmcOf is the address of a node's BMC; zero where driver_info has a name, or none.
func bmcOf(n node.Node) netip.Addr {
	_, value := n.BMCSettingOf("redfish_address")
	text := fmt.Sprint(value)
	if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
		text = u.Hostname()
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// stages are the boot stages that the reading of each part proves.
var stages = map[bootiso.Part]string{
	bootiso.Config: plan.StageMedium, bootiso.Kernel: string(pxe.StageKernel), bootiso.Initrd: string(pxe.StageRamdisk),
}

// watch reports how far a machine has come, each part once.
func (s *Server) watch(path, uuid string) func(bootiso.Part) {
	return func(p bootiso.Part) {
		s.mutex.Lock()
		m := s.reading[path]
		first := m != nil && !m.seen[p]
		if first {
			m.seen[p] = true
		}
		s.mutex.Unlock()
		if first {
			s.Conductor.BootStage(uuid, stages[p], "boot medium")
		}
	}
}

// open are files that an image reads from.
type open []io.Closer

func (o open) close() {
	for _, c := range o {
		_ = c.Close() // only read from
	}
}

// compose makes the image of a node. The files are open until the caller closes them.
func (s *Server) compose(ctx context.Context, n node.Node, reads func(bootiso.Part)) (*iso.Image, open, error) {
	l, err := s.loaders()
	if err != nil {
		return nil, nil, err
	}
	boot, err := s.Content(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	var files open
	m := bootiso.Medium{Cmdline: boot.Cmdline, Overlay: boot.Overlay, Reads: reads}
	for _, part := range []struct {
		what, from string
		to         *iso.Content
	}{{"kernel", boot.Kernel, &m.Kernel}, {"ramdisk", boot.Initrd, &m.Initrd}} {
		var c io.Closer
		if *part.to, c, err = s.content(ctx, part.from); err != nil {
			files.close()
			return nil, nil, fmt.Errorf("%s: %w", part.what, err)
		}
		if c != nil {
			files = append(files, c)
		}
	}
	image, err := bootiso.New(l.Loaders, l.esp, m)
	if err != nil {
		files.close()
		return nil, nil, err
	}
	return image, files, nil
}

// content opens a file of this host, or one at an http(s) URL.
func (s *Server) content(ctx context.Context, from string) (iso.Content, io.Closer, error) {
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		c, err := s.remotes.content(ctx, from)
		return c, nil, err
	}
	f, err := os.Open(from)
	if err != nil {
		return iso.Content{}, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", from)
	}
	if err != nil {
		return iso.Content{}, nil, errors.Join(err, f.Close())
	}
	return iso.Content{At: f, Size: info.Size()}, f, nil
}
