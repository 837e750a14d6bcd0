import { useState } from 'react'
import { get } from '../api/client'
import type { Answer } from '../api/types'
import { Empty, Failed } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { dateTime, plural, visible } from '../lib/format'
import { commands } from '../lib/users'

type Users = Answer<'GET /ferrite/v1/users'>
type User = Users['users'][number]

/** UsersPage is the users of the conductor's files, and the commands that change them. */
export function UsersPage() {
  const found = useData((signal) => get<Users>('/ferrite/v1/users', undefined, signal), [])
  const [chosen, setChosen] = useState('')
  const users = found.data?.users ?? []
  const user = users.find((u) => u.name === chosen)
  return (
    <>
      <div className="heading">
        <h1>Users and tokens</h1>
        <p className="muted">{found.data && plural(users.length, 'user')}</p>
        <button type="button" className="button" onClick={found.reload}>
          Refresh
        </button>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && found.data.ways.length === 0 && <Empty>This conductor needs no login: it runs with --auth none.</Empty>}
      {found.data && found.data.ways.includes('keystone') && <p>Users of Keystone log in, too. They are not listed here: Keystone has their roles and projects.</p>}
      {found.data && !found.data.roles && found.data.ways.includes('basic') && <p>There is no users file (--users-file): everybody with a password is an admin.</p>}
      {users.length > 0 && (
        <Table
          label="Users"
          rows={users}
          id={(u) => u.name}
          columns={[
            { label: 'Name', of: (u) => visible(u.name) },
            { label: 'Role', of: (u) => visible(u.role) },
            { label: 'Project', of: (u) => visible(u.project) || 'all' },
            { label: 'Password', wide: true, of: (u) => (u.password ? 'yes' : 'no') },
            { label: 'Tokens', of: (u) => <Tokens of={u} /> },
            {
              label: 'Change',
              of: (u) => (
                <button type="button" aria-label={`Commands for ${visible(u.name)}`} aria-pressed={u.name === chosen} onClick={() => setChosen(u.name === chosen ? '' : u.name)}>
                  Commands
                </button>
              ),
            },
          ]}
        />
      )}
      {found.data && found.data.ways.length > 0 && (
        <section aria-labelledby="commands">
          <h2 id="commands">{user ? `Change ${visible(user.name)}` : 'Add a user'}</h2>
          <p>
            Users are in files that the conductor only reads. Run these commands on its host, as root; the conductor reads the files again by itself.
          </p>
          <dl className="all-fields">
            {commands(user).map(([means, command]) => (
              <div key={command}>
                <dt>{means}</dt>
                <dd>
                  <code>{visible(command)}</code>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}

const Tokens = ({ of }: { of: User }) => (
  <>
    {of.tokens.map((t) => (
      <div key={t.label}>
        {visible(t.label)}{' '}
        <span className={t.expired ? 'bad' : 'muted'}>{t.expired ? `expired ${dateTime(t.expires)}` : t.expires ? `until ${dateTime(t.expires)}` : 'does not expire'}</span>
      </div>
    ))}
  </>
)
