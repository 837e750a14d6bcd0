package imagesource

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/images/disk"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// sumTime bounds the look for the checksum of an image in a file of checksums.
const sumTime = 20 * time.Second

// Through has an agent get an image that it could fetch by itself from this conductor instead, which pulls it once. It
// gives info back as it is where it cannot: a deploy does not fail for the sake of the cache. An image that is known to
// be another one than was asked for is an error.
func (s *Sources) Through(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	if s.pulled == nil || s.served == "" || len(info.URLs) == 0 {
		return info, nil
	}
	src, err := s.origin(ctx, info)
	if src.Owner = n.Owner; err == nil {
		var content *imagestore.Content
		if content, err = s.pulled.Pull(ctx, src); err == nil {
			err = content.Close()
		}
	}
	var changed *imagestore.ChangedError
	switch {
	case errors.As(err, &changed):
		return info, err
	case err != nil:
		s.log.Warn("an image is not pulled through this conductor: the agent fetches it by itself", "node", n.UUID,
			"url", imagestore.Redacted(info.URLs[0]), "err", explain(err))
		return info, nil
	}
	at, err := s.at(n, "pulled/"+n.UUID+"/"+src.Key(), src.Key())
	if err != nil {
		return info, err
	}
	s.remember(src)
	info.URLs, info.RequestAuthorize, info.Checksum = []string{at}, "", ""
	info.OSHashAlgo, info.OSHashValue = string(src.Sum.Algorithm), src.Sum.Sum
	return info, nil
}

// pullOCI is locateOCI, and Through for the blob that it finds. The registry is asked for each node with the node's own
// secret. Only then does the node get a blob that was pulled for another.
func (s *Sources) pullOCI(ctx context.Context, n node.Node, info agentapi.ImageInfo) (agentapi.ImageInfo, error) {
	found, err := s.locateOCI(ctx, n, info)
	if err != nil {
		return info, err
	}
	return s.Through(ctx, n, found)
}

// origin is where an image comes from, and by which checksum it is known.
func (s *Sources) origin(ctx context.Context, info agentapi.ImageInfo) (src imagestore.Source, err error) {
	src = imagestore.Source{URLs: info.URLs, Client: s.client, Header: http.Header{}}
	if info.RequestAuthorize != "" {
		header, err := base64.StdEncoding.DecodeString(info.RequestAuthorize)
		if err != nil {
			return src, fmt.Errorf("authorization of the image: %w", err)
		}
		src.Header.Set("Authorization", string(header))
	}
	ctx, cancel := context.WithTimeout(ctx, sumTime)
	defer cancel()
	if info.OSHashValue != "" {
		src.Sum, err = disk.FetchHash(ctx, s.client, info.OSHashAlgo, info.OSHashValue, info.URLs[0], disk.HTTPOptions{})
	} else {
		src.Sum, err = disk.FetchChecksum(ctx, s.client, info.Checksum, info.URLs[0], disk.HTTPOptions{})
	}
	if err == nil && src.Sum.Algorithm == disk.MD5 {
		err = errors.New("its checksum is MD5, which can be forged")
	}
	return src, err
}

// maxOrigins is how many origins are remembered. Others are found again by their node.
const maxOrigins = 256

func (s *Sources) remember(src imagestore.Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.origins) >= maxOrigins {
		clear(s.origins)
	}
	s.origins[src.Key()] = src
}

func (s *Sources) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.origins, key)
}

// originOf is the origin of a key that an agent of n was given, maybe before this conductor was restarted.
func (s *Sources) originOf(ctx context.Context, n node.Node, key string) (imagestore.Source, error) {
	s.mu.Lock()
	src, known := s.origins[key]
	s.mu.Unlock()
	if known {
		return src, nil
	}
	info, err := s.asked(ctx, n)
	switch {
	case err != nil:
	case node.GlanceImage(info.URLs[0]) != "":
		var (
			i   GlanceImage
			sum disk.Checksum
		)
		if i, sum, err = s.diskInGlance(ctx, n, info.URLs[0], info.Checksum, info.OSHashAlgo, info.OSHashValue); err == nil {
			src, err = s.originInGlance(ctx, i, sum)
		}
	default:
		src, err = s.origin(ctx, info)
	}
	src.Owner = n.Owner
	if err == nil && src.Key() != key {
		err = permanent{errors.New("the node is to get another image since: deploy it again")}
	}
	if err == nil {
		s.remember(src)
	}
	return src, err
}

// asked is the image that a node's instance_info asks for, in the form that an agent without a cache would get.
func (s *Sources) asked(ctx context.Context, n node.Node) (agentapi.ImageInfo, error) {
	info := agentapi.ImageInfo{
		URLs: []string{text(n.InstanceInfo, "image_source")}, Checksum: text(n.InstanceInfo, "image_checksum"),
		OSHashAlgo: text(n.InstanceInfo, "image_os_hash_algo"), OSHashValue: text(n.InstanceInfo, "image_os_hash_value"),
	}
	if strings.HasPrefix(info.URLs[0], "oci://") {
		return s.locateOCI(ctx, n, info)
	}
	mirrors, _ := n.InstanceInfo["image_mirrors"].([]any)
	for _, m := range mirrors {
		if at, ok := m.(string); ok {
			info.URLs = append(info.URLs, at)
		}
	}
	return info, nil
}

// servePulled serves an image to an agent while it comes.
func (d *agentServer) servePulled(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	n, ok := d.admit(w, r, key)
	if !ok {
		return
	}
	src, err := d.originOf(r.Context(), n, key)
	if err != nil {
		d.refused(w, n, err)
		return
	}
	content, err := d.pulled.Pull(r.Context(), src)
	if err != nil {
		if len(src.Header) > 0 {
			d.forget(key) // a registry's token expires: the next request asks the registry for another
		}
		d.refused(w, n, err)
		return
	}
	defer func() { _ = content.Close() }() // it was only read
	content.Serve(w, r)
}

// refused answers for an image that cannot be pulled. Agents ask again after a status of a server.
func (d *agentServer) refused(w http.ResponseWriter, n node.Node, err error) {
	d.log.Warn("image not served", "node", n.UUID, "err", explain(err))
	status := http.StatusBadGateway
	var lasting interface{ Permanent() bool }
	if errors.As(err, &lasting) && lasting.Permanent() {
		status = http.StatusConflict
	}
	http.Error(w, explain(err), status)
}
