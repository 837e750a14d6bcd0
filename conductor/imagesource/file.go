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

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Prefix is the path under which Handler is to be served.
const Prefix = "/images/"

// agentName stands where a URL has a user's name; the password says it all.
const agentName = "agent"

// checkFile refuses a file that cannot be served.
func (s *Sources) checkFile(_ node.Node, source string) error {
	if s.served == "" {
		return permanent{errors.New("this conductor serves no files: start it with --boot, or give an http(s) URL")}
	}
	file, info, err := s.files.Open(source)
	if err != nil {
		return permanent{fmt.Errorf("%q: %w", source, err)}
	}
	if info.Size() == 0 {
		err = permanent{fmt.Errorf("%q is empty", source)}
	}
	return errors.Join(err, file.Close())
}

// locateFile is where Handler serves a file to the agent of n. A checksum is
// made for it if the operator gave none.
func (s *Sources) locateFile(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	source := info.URLs[0]
	if err := s.checkFile(n, source); err != nil {
		return info, err
	}
	if n.Agent.Token == "" {
		return info, permanent{errors.New("the agent has no token by which it could be known")}
	}
	path, err := s.files.Find(source)
	if err != nil {
		return info, permanent{err}
	}
	u, err := url.Parse(s.served)
	if err != nil {
		return info, err
	}
	u.Path = Prefix + n.UUID + path
	u.User = url.UserPassword(agentName, ticket(n, path)) // where whoever shows URLs hides it
	info.URLs = []string{u.String()}
	if info.Checksum == "" && info.OSHashValue == "" {
		info.OSHashAlgo = "sha256"
		info.OSHashValue, err = s.sum(ctx, path)
	}
	return info, err
}

// ticket lets the agent that runs on a node have a file. It is good as long as
// the agent's token, so for this boot, and a conductor that was restarted knows it, too.
func ticket(n node.Node, path string) string {
	m := hmac.New(sha256.New, []byte(n.Agent.Token))
	m.Write([]byte("image " + n.UUID + " " + path))
	return hex.EncodeToString(m.Sum(nil))
}

// Handler serves files to the agents that Locate has sent to them: GET and HEAD, with Range.
// find reads a node by its UUID. Callers without a ticket learn nothing of the files.
func (s *Sources) Handler(find func(ctx context.Context, uuid string) (node.Node, error),
	log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix+"{node}/{path...}", func(w http.ResponseWriter, r *http.Request) {
		path := "/" + r.PathValue("path")
		_, shown, _ := r.BasicAuth()
		n, err := find(r.Context(), r.PathValue("node"))
		if err != nil || n.Agent.Token == "" || !hmac.Equal([]byte(shown), []byte(ticket(n, path))) {
			log.Debug("image refused", "from", r.RemoteAddr, "path", r.URL.Path)
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			http.Error(w, "no ticket for that", http.StatusUnauthorized)
			return
		}
		s.serveFile(w, r, path, log)
	})
	return mux
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
