// The three ways in which machines come to a conductor, each with a command that works as it is printed.

export interface Way {
  title: string
  means: string
  /** page is a page of the interface that does the same. */
  page?: { to: string; label: string }
  /** help is a page of the interface: its page of the documentation explains the way. */
  help: string
  where: string
  command: string
}

const authority = '/etc/ferrite/ca.pem'

/**
 * connection is the lines that name a conductor and its user, '' for none. The file of the authority is where
 * `ferrite server setup` writes it; a conductor whose certificate comes from elsewhere has no such file.
 */
const connection = (url: string, user: string): string =>
  [`export FERRITE_URL=${url}`, user && `export FERRITE_USER=${quoted(user)}`, url.startsWith('https:') && `[ ! -r ${authority} ] || export FERRITE_CACERT=${authority}`]
    .filter(Boolean)
    .join('\n')

/** password prompts for the user's password. It joins the next command with &&: else a shell could read that line as the password. */
const password = (user: string): string => (user && "\nread -rsp 'Password: ' FERRITE_PASSWORD && export FERRITE_PASSWORD && \\")

const quoted = (word: string): string => (/^[\w.@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** ways are for the conductor at an address, like https://conductor:6385, and for the user who is logged in; '' for none. */
export const ways = (url: string, user: string): Way[] => [
  {
    title: 'Add one machine by its BMC', means: 'You know the address and the login of its BMC, and the MAC address that it boots from.',
    page: { to: 'enroll', label: 'Enroll a machine' }, help: 'enroll',
    where: `Or in bash. It prompts for the password${user && 's'}; replace name and addresses with yours.${elsewhere(url)}`,
    command: `${connection(url, user)}${password(user)}
read -rsp 'Password of the BMC: ' BMC_PASSWORD && ferrite node create --driver redfish \\
  --name metal-1 --inspect-interface agent --port 52:54:00:12:34:56 \\
  --driver-info redfish_address=https://192.0.2.10 --driver-info redfish_username=admin \\
  --driver-info-file redfish_password=<(printf %s "$BMC_PASSWORD")`,
  },
  {
    title: 'Apply a file of machines', means: 'You have a list: a spreadsheet, or documents as in Metal3. The file can be applied again after each change.', help: 'enroll',
    where: `In bash. Replace the two machines with yours.${elsewhere(url)}`,
    command: `${connection(url, user)}
cat > machines.csv <<'END'
name,driver,mac,redfish_address,redfish_username,redfish_password
rack1-1,redfish,52:54:00:12:34:61,https://192.0.2.11,admin,change-me
rack1-2,redfish,52:54:00:12:34:62,https://192.0.2.12,admin,change-me
END${password(user)}
ferrite host apply -f machines.csv`,
  },
  {
    title: 'Let machines announce themselves', means: 'Unknown machines on the boot network boot the ramdisk, are inspected, and wait in the inbox for your yes.', help: 'discovered',
    where: 'On the conductor’s host, as root; its boot service must be on. Then switch the machines on:',
    command: `echo 'discovery: redfish' >> /etc/ferrite/ferrite.yaml && systemctl restart ferrite`,
  },
]

/** elsewhere is where a computer beside the conductor's host has the authority of its certificate from. */
const elsewhere = (url: string): string =>
  url.startsWith('https:') ? ` On another computer, first copy ${authority} of the conductor’s host to the same place, if that host has the file.` : ''
