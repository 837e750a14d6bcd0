package imagesource

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
)

// Prefix is the path under which Handler is to be served.
const Prefix = "/images/"

// agentName stands where a URL has a user's name; the password says it all.
const agentName = "agent"

// checkFile refuses a file that cannot be served, or that is no image of a disk.
func (s *Sources) checkFile(_ context.Context, n node.Node, source string) (found node.ImageFound, err error) {
	if s.served == "" {
		return found, errNotServed
	}
	file, info, err := s.files.Open(source)
	if err != nil {
		return found, permanent{fmt.Errorf("%q: %w", source, err)}
	}
	first := make([]byte, min(imagestore.HeadBytes, info.Size()))
	if _, err = file.ReadAt(first, 0); err == nil {
		kind, refusal := kindFor(source, first, info.Size())
		if found.Size = kind.DiskSize; kind.Format == node.ImageISO && text(n.InstanceInfo, "image_disk_format") == "raw" {
			found.Size, refusal = info.Size(), ""
		}
		if refusal != "" {
			err = permanent{errors.New(refusal)}
		}
	}
	return found, errors.Join(err, file.Close())
}

var errNotServed = permanent{errors.New("this conductor serves no files: start it with --boot, or give an http(s) URL")}

// locateFile is where Handler serves a file to the agent of n. A checksum is
// made for it if the operator gave none.
func (s *Sources) locateFile(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	source := info.URLs[0]
	if _, err := s.checkFile(ctx, n, source); err != nil {
		return info, err
	}
	path, err := s.files.Find(source)
	if err != nil {
		return info, permanent{err}
	}
	at, err := s.at(n, n.UUID+path, path)
	if err != nil {
		return info, err
	}
	info.URLs = []string{at}
	if info.Checksum == "" && info.OSHashValue == "" {
		info.OSHashAlgo = "sha256"
		info.OSHashValue, err = s.sum(ctx, path)
	}
	return info, err
}

// at is the URL of a path under Prefix, with the ticket for its content.
func (s *Sources) at(n node.Node, path, what string) (string, error) {
	if n.Agent.Token == "" {
		return "", permanent{errors.New("the agent has no token by which it could be known")}
	}
	u, err := url.Parse(s.served)
	if err != nil {
		return "", err
	}
	u.Path = Prefix + path
	u.User = url.UserPassword(agentName, ticket(n, what)) // as credentials, which are hidden wherever URLs are shown
	return u.String(), nil
}

// ticket lets the agent that runs on a node have a file. It is good as long as
// the agent's token, so for this boot, and a conductor that was restarted knows it, too.
func ticket(n node.Node, path string) string {
	m := hmac.New(sha256.New, []byte(n.Agent.Token))
	m.Write([]byte("image " + n.UUID + " " + path))
	return hex.EncodeToString(m.Sum(nil))
}

// Handler serves files to the agents that Locate has sent to them: GET and HEAD, with Range.
// read reads a node by its UUID. Callers without a ticket learn nothing of the files.
func (s *Sources) Handler(read func(ctx context.Context, uuid string) (node.Node, error),
	log *slog.Logger) http.Handler {
	mux, d := http.NewServeMux(), &agentServer{s, read, log}
	mux.HandleFunc("GET "+Prefix+"{node}/{path...}", func(w http.ResponseWriter, r *http.Request) {
		path := "/" + r.PathValue("path")
		if _, ok := d.admit(w, r, path); ok {
			s.serveFile(w, r, path, log)
		}
	})
	mux.HandleFunc("GET "+Prefix+"stored/{node}/{digest}", d.serveStored)
	mux.HandleFunc("GET "+Prefix+"pulled/{node}/{key}", d.servePulled)
	mux.HandleFunc("GET "+Prefix+"glance/{node}/{image}", d.serveGlance)
	mux.HandleFunc("GET "+Prefix+"iso/{node}/{file}", d.serveISO)
	return mux
}

// agentServer serves images and files to agents.
type agentServer struct {
	*Sources
	node func(ctx context.Context, uuid string) (node.Node, error)
	log  *slog.Logger
}

// admit finds the node if its agent has a ticket for the request, and refuses all other requests.
func (d *agentServer) admit(w http.ResponseWriter, r *http.Request, what string) (n node.Node, ok bool) {
	_, shown, _ := r.BasicAuth()
	n, err := d.node(r.Context(), r.PathValue("node"))
	if err == nil && n.Agent.Token != "" && hmac.Equal([]byte(shown), []byte(ticket(n, what))) {
		return n, true
	}
	d.log.Debug("image refused", "from", clientaddr.Of(r), "path", r.URL.Path)
	w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
	http.Error(w, "no ticket for that", http.StatusUnauthorized)
	return n, false
}

func (s *Sources) serveFile(w http.ResponseWriter, r *http.Request, path string, log *slog.Logger) {
	file, info, err := s.files.Open(path)
	if err != nil {
		log.Warn("image not served", "path", path, "err", err)
		http.Error(w, "the image is not there any more, see the server's log", http.StatusNotFound)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(w, r, "", info.ModTime(), file)
}
