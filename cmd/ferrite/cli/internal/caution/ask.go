package caution

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Yes is the flag --yes.
type Yes bool

// Add adds the flag to a command.
func (y *Yes) Add(cmd *cobra.Command) {
	cmd.Flags().BoolVarP((*bool)(y), "yes", "y", false,
		"lose data without being asked; without a terminal there is no question in any case")
}

// Asks reports whether Ask asks. Only a terminal is asked: in a script, standard input is none, and --yes is the
// answer beforehand.
func (y Yes) Asks(cmd *cobra.Command) bool {
	stdin, ok := cmd.InOrStdin().(*os.File)
	return !bool(y) && ok && term.IsTerminal(int(stdin.Fd()))
}

// Ask asks whether to go on with something that loses data. Anything but y or yes is a no, which is the error.
func (y Yes) Ask(cmd *cobra.Command, question string) error {
	if !y.Asks(cmd) {
		return nil
	}
	fmt.Fprint(cmd.ErrOrStderr(), question+" Continue? [y/N] ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil { // the end of the input, on the line of the question
		fmt.Fprintln(cmd.ErrOrStderr())
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("the answer was not y: nothing was changed")
}

// shown is how many names a question lists.
const shown = 5

// Question puts names in the place of NAMES.
func Question(text string, names []string) string {
	return strings.ReplaceAll(text, "NAMES", list(names))
}

// list lists names for a question: all of a few, and the number of the others.
func list(all []string) string {
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more (%d in all)", strings.Join(all[:shown], ", "), len(all)-shown, len(all))
}
