package user

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// defaultLinkTime is how long a link holds: it is made to be opened at once.
const defaultLinkTime = 10 * time.Minute

func link(f *files) *cobra.Command {
	var base string
	var lasts time.Duration
	c := &cobra.Command{
		Use: "link NAME [--url URL] [--expires TIME]", Short: "Make a link that logs a user in once, in a browser",
		Args: cobra.ExactArgs(1),
		Long: "Makes a link to the web interface that logs its user in once, and prints it. The file keeps only a\n" +
			"hash of it. A link ends when it is used, after --expires, and when the conductor is restarted.",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, _ := cmd.Flags().GetString("config")
			own, _, err := siteconfig.API(path)
			if err != nil && base == "" {
				return err
			}
			page, err := interfaceAt(cmp.Or(base, os.Getenv("FERRITE_URL"), own, "http://127.0.0.1:6385"))
			if err != nil {
				return err
			}
			now := time.Now()
			secret, kept, err := auth.NewLink(now, lasts)
			if err != nil {
				return fmt.Errorf("--expires: %w", err)
			}
			err = f.edit(cmd, func(u *auth.Users) error {
				i := u.Find(args[0])
				if i < 0 {
					return f.noUser(args[0])
				}
				for j := range u.Users {
					u.Users[j].Links = holding(u.Users[j].Links, now)
				}
				u.Users[i].Links = append(u.Users[i].Links, kept)
				return nil
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), page+"#"+nodeapi.LinkFragment+secret)
			return err
		},
	}
	c.Flags().StringVar(&base, "url", "", "`URL` of the conductor in the link; $FERRITE_URL, the configuration's, "+
		"or http://127.0.0.1:6385, when left out")
	c.Flags().DurationVar(&lasts, "expires", defaultLinkTime, "validity of the link, at most "+auth.MaxLinkTime.String())
	return c
}

// interfaceAt is the address of the web interface of a conductor.
func interfaceAt(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return "", fmt.Errorf("--url %q: expected the address of the conductor, as http://127.0.0.1:6385", base)
	}
	return strings.TrimSuffix(u.String(), "/") + "/ui/", nil
}

// holding is the links that have not expired.
func holding(links []auth.Link, now time.Time) (kept []auth.Link) {
	for _, l := range links {
		if now.Before(l.Expires) {
			kept = append(kept, l)
		}
	}
	return kept
}
