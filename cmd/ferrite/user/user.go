// Package user is `ferrite user`: it makes the files from which a conductor reads its operators, their passwords and
// their tokens.
//
// It works on files and sends nothing to a conductor: a running conductor reads them again by itself.
package user

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// Command is `ferrite user`.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use: "user", Short: "Keep the users of a conductor: roles, passwords, tokens", SilenceUsage: true,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Long: `Edits two files of "ferrite serve", which reads them again when they change:

  --users-file     roles, projects and hashes of tokens
  --htpasswd-file  passwords, as bcrypt; "htpasswd -B" writes the same

Without these flags, the files are those of the configuration file of this host's conductor.

A reader sees everything except secrets. An operator also commands machines and edits their
records. An admin also enrolls and deletes them. With --project, a user sees only nodes whose
owner or lessee is that project, their parts, and the project's allocations.

  ferrite user set alice --role admin
  ferrite user password alice
  ferrite user token ci --expires 720h
  ferrite user link alice`,
	}
	var f files
	c.PersistentFlags().StringVar(&f.users, usersKey, os.Getenv("FERRITE_USERS_FILE"),
		"`file` of users, also $FERRITE_USERS_FILE")
	c.PersistentFlags().StringVar(&f.htpasswd, htpasswdKey, os.Getenv("FERRITE_HTPASSWD_FILE"),
		"`file` of passwords, also $FERRITE_HTPASSWD_FILE")
	c.AddCommand(list(&f), set(&f), password(&f), token(&f), link(&f), remove(&f))
	for _, below := range c.Commands() {
		below.ValidArgsFunction = f.complete
	}
	siteconfig.Add(c, usersKey, htpasswdKey)
	return c
}

func list(f *files) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List users and the labels of their tokens", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			u, err := f.readUsers(cmd)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w; make it with: ferrite user set NAME --role admin", err)
			}
			if err != nil {
				return err
			}
			t := table.NewWriter()
			t.SetStyle(table.StyleLight)
			t.AppendHeader(table.Row{"Name", "Role", "Project", "Tokens"})
			for _, user := range u.Users {
				var tokens []string
				for _, k := range user.Tokens {
					if k.Expires != nil {
						k.Label += " (until " + k.Expires.UTC().Format(time.RFC3339) + ")"
					}
					tokens = append(tokens, k.Label)
				}
				t.AppendRow(table.Row{user.Name, user.Role, user.Project, strings.Join(tokens, "\n")})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), t.Render())
			return err
		},
	}
}

func set(f *files) *cobra.Command {
	var role, project string
	c := &cobra.Command{
		Use: "set NAME --role ROLE [--project PROJECT]", Short: "Add a user, or change a user's role",
		Args: cobra.ExactArgs(1),
		Long: "Adds a user, or changes the role of an existing one. The project of an existing user stays, " +
			"unless\n--project names another. --project \"\" removes the project: the user then sees all nodes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			next := ""
			err := f.edit(cmd, func(u *auth.Users) error {
				i := u.Find(args[0])
				if i < 0 {
					next = "; next: ferrite user password " + args[0]
					i = len(u.Users)
					u.Users = append(u.Users, auth.User{Name: args[0]})
				}
				u.Users[i].Role = role
				if cmd.Flags().Changed("project") {
					u.Users[i].Project = project
				}
				return nil
			})
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has the role %s%s\n", args[0], role, next)
			}
			return err
		},
	}
	c.Flags().StringVar(&role, "role", "", "reader, operator or admin")
	c.Flags().StringVar(&project, "project", "",
		"the user sees nodes of this `project` alone; without it a new user sees all nodes")
	roles := cobra.FixedCompletions([]string{"reader", "operator", "admin"}, cobra.ShellCompDirectiveNoFileComp)
	if err := errors.Join(c.MarkFlagRequired("role"), c.RegisterFlagCompletionFunc("role", roles)); err != nil {
		panic(err) // a mistake above, which the first run of any test would show
	}
	return c
}

func token(f *files) *cobra.Command {
	var label string
	var lasts time.Duration
	c := &cobra.Command{
		Use: "token NAME [--label LABEL] [--expires TIME]", Short: "Make a token for a user and print it; it is shown once",
		Args: cobra.ExactArgs(1),
		Long: "Makes a token to log in with, and prints it. It replaces a token of the same label. The file\n" +
			"keeps only a hash of it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var expires *time.Time
			if cmd.Flags().Changed("expires") {
				if lasts <= 0 {
					return fmt.Errorf("--expires %s is not positive: expected a time from now, like 720h", lasts)
				}
				at := time.Now().Add(lasts).UTC().Truncate(time.Second)
				expires = &at
			}
			secret, kept := auth.NewToken(label, expires)
			err := f.edit(cmd, func(u *auth.Users) error {
				i := u.Find(args[0])
				if i < 0 {
					return f.noUser(args[0])
				}
				u.Users[i].Tokens = append(without(u.Users[i].Tokens, label), kept)
				return nil
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			return err
		},
	}
	c.Flags().StringVar(&label, "label", "default", "name of the token, for example its purpose")
	c.Flags().DurationVar(&lasts, "expires", 0, "validity of the token; for ever when left out")
	return c
}

func without(tokens []auth.Token, label string) (kept []auth.Token) {
	for _, t := range tokens {
		if t.Label != label {
			kept = append(kept, t)
		}
	}
	return kept
}

func remove(f *files) *cobra.Command {
	var label string
	c := &cobra.Command{
		Use: "delete NAME [--token LABEL]", Short: "Remove a user with password and tokens, or one token of the user",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			gone := false
			if f.htpasswd != "" && label == "" {
				var err error
				if gone, err = f.setPassword(args[0], ""); err != nil {
					return err
				}
			}
			if f.users == "" && gone {
				return nil
			}
			return f.edit(cmd, func(u *auth.Users) error {
				i := u.Find(args[0])
				switch {
				case i < 0 && gone:
					return nil
				case i < 0:
					return fmt.Errorf("there is no user %s in %s", args[0], f.users)
				case label == "":
					u.Users = append(u.Users[:i], u.Users[i+1:]...)
					return nil
				}
				kept := without(u.Users[i].Tokens, label)
				if len(kept) == len(u.Users[i].Tokens) {
					return fmt.Errorf("user %s has no token labelled %q", args[0], label)
				}
				u.Users[i].Tokens = kept
				return nil
			})
		},
	}
	c.Flags().StringVar(&label, "token", "", "only the token with this `label`")
	return c
}

func password(f *files) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "password NAME [--password-file FILE]", Short: "Set the password of a user", Args: cobra.ExactArgs(1),
		Long: "Sets a password in the htpasswd file. The command prompts for it, or reads the first line of a\n" +
			"file (- is standard input).",
		RunE: func(cmd *cobra.Command, args []string) error {
			role, err := f.checkPassword(cmd, args[0])
			if err != nil {
				return err
			}
			secret, err := readPassword(cmd, file)
			if err != nil {
				return err
			}
			if _, err = f.setPassword(args[0], secret); err == nil && !role {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"note: %s has no role in %s, and cannot log in without one; add it with: ferrite user set %s --role ROLE\n",
					args[0], f.users, args[0])
			}
			return err
		},
	}
	c.Flags().StringVar(&file, "password-file", "", "`file` whose first line is the password; - is standard input")
	return c
}
