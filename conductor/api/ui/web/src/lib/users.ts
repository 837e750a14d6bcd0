// The commands that change users: the conductor writes none of its files of users.

interface User {
  name: string
  role: string
  tokens: { label: string }[]
}

/** commands are those for a user, or for a new one, each with its meaning. */
export function commands(user?: User): [means: string, command: string][] {
  if (!user)
    return [
      ['Add a user; the role is reader, operator or admin', 'ferrite user set NAME --role ROLE'],
      ['Add a user who sees the machines of one project', 'ferrite user set NAME --role ROLE --project PROJECT'],
    ]
  const name = quoted(user.name)
  return [
    ['Change the role', `ferrite user set ${name} --role ROLE`],
    ['Set a password', `ferrite user password ${name}`],
    ['Make a token, which is shown once', `ferrite user token ${name} --label LABEL --expires 720h`],
    ['Make a link that logs in once, in a browser', `ferrite user link ${name} --url ${location.origin}`],
    ...user.tokens.map((t): [string, string] => [`Take the token ${t.label} away`, `ferrite user delete ${name} --token ${quoted(t.label)}`]),
    ['Remove the user, with password and tokens', `ferrite user delete ${name}`],
  ]
}

/** quoted is a word of a shell. */
export const quoted = (text: string): string => (/^[A-Za-z0-9._@%+=:,/][A-Za-z0-9._@%+=:,/-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
