package sharing

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/imagestore"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// imagesPath is where members have the bytes of images for each other, by the hex digits of their digest. A front
// passes on no request of a client to a path of members.
const imagesPath = cluster.MemberPaths + "images/"

// Peers are the other members, which may have the bytes of an image.
type Peers struct {
	Self    string // the name of this one
	Cluster *cluster.Cluster
	Client  *http.Client // speaks to members
}

// Sources are the URLs of an image at all living members. The member that received the image comes first.
func (p Peers) Sources(conductor, digest string) (urls []string, client *http.Client) {
	members := slices.DeleteFunc(slices.Clone(p.Cluster.View().Members), func(m store.Member) bool {
		return m.Name == p.Self || !m.Alive || m.Address == ""
	})
	slices.SortStableFunc(members, func(a, b store.Member) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Name == conductor], rank[b.Name == conductor])
	})
	for _, m := range members {
		urls = append(urls, "https://"+m.Address+imagesPath+imagestore.KeyOf(digest))
	}
	return urls, p.Client
}

// Images serves the images in this member's store to other members, whichever member leads. next gets all other
// requests.
func Images(here *imagestore.Store, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := strings.CutPrefix(r.URL.Path, imagesPath)
		if !ok || cluster.Forwarded(r) {
			next.ServeHTTP(w, r)
			return
		}
		content, err := here.OpenStored(r.Context(), key)
		if err != nil {
			http.Error(w, "this conductor does not have that image", http.StatusNotFound)
			return
		}
		defer func() { _ = content.Close() }() // it was only read
		content.Serve(w, r)
	})
}
