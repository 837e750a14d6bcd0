package serve

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// memberImages is where members have the bytes of images for each other, by the hex digits of their digest. A front
// passes on no request of a client to a path of members.
const memberImages = cluster.MemberPaths + "images/"

// peers are the other members, which may have the bytes of an image.
type peers struct {
	self    string
	cluster *cluster.Cluster
	client  *http.Client
}

// Sources are the URLs of the bytes at all members that are alive, the one that was given them first.
func (p peers) Sources(conductor, digest string) (urls []string, client *http.Client) {
	members := slices.DeleteFunc(slices.Clone(p.cluster.View().Members), func(m store.Member) bool {
		return m.Name == p.self || !m.Alive || m.Address == ""
	})
	slices.SortStableFunc(members, func(a, b store.Member) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Name == conductor], rank[b.Name == conductor])
	})
	for _, m := range members {
		urls = append(urls, "https://"+m.Address+memberImages+imagestore.KeyOf(digest))
	}
	return urls, p.client
}

// inner answers other members: with the bytes of images that are here, whoever leads, and with next for all else.
func (m *member) inner(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := strings.CutPrefix(r.URL.Path, memberImages)
		if !ok || cluster.Forwarded(r) {
			next.ServeHTTP(w, r)
			return
		}
		content, err := m.images.OpenStored(r.Context(), key)
		if err != nil {
			http.Error(w, "this conductor does not have that image", http.StatusNotFound)
			return
		}
		defer func() { _ = content.Close() }() // it was only read
		content.Serve(w, r)
	})
}
