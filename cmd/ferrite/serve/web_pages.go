package serve

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/ui"
	"github.com/ferrite-metal/ferrite/docs"
	"github.com/ferrite-metal/ferrite/docs/site"
)

// withPages serves the web interface and the documentation before the API. Neither needs a login: they hold nothing of
// this site.
func (c *Config) withPages(next http.Handler) http.Handler {
	return ui.Before(next, site.New(docs.Pages, c.release, api.Document).File)
}
