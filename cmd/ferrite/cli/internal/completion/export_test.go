package completion

import "github.com/spf13/cobra"

// FreeArguments are the words of a command's arguments that nothing completes.
func FreeArguments(cmd *cobra.Command) (words []string) {
	for _, a := range arguments(cmd.Use) {
		if argumentSource(cmd, a.word) == nil {
			words = append(words, a.word)
		}
	}
	return words
}

// Completed reports whether the values of a flag are listed or are files.
func Completed(cmd *cobra.Command, flag string) bool {
	if flagSource(cmd, flag) != nil {
		return true
	}
	complete, ok := cmd.GetFlagCompletionFunc(flag)
	if !ok {
		return false
	}
	words, directive := complete(cmd, nil, "")
	return len(words) > 0 || directive != cobra.ShellCompDirectiveNoFileComp
}
