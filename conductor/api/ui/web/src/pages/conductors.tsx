import { useState } from 'react'
import { call, get, path } from '../api/client'
import { errorText } from '../api/fault'
import { session } from '../api/session'
import type { Member } from '../api/types'
import { Failed, Notice } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { dateTime, plural, visible } from '../lib/format'

/** ConductorsPage is the conductors of a cluster, and which of them lead. */
export function ConductorsPage() {
  const found = useData((signal) => get<{ conductors: Member[] }>('/ferrite/v1/conductors', undefined, signal), [])
  const hold = useData((signal) => get<{ held?: boolean }>('/ferrite/v1/hold', undefined, signal).catch(() => null), [])
  const [error, setError] = useState('')
  const members = found.data?.conductors ?? []
  const may = session.may('ferrite:conductor:drain') && members.length > 1
  const drain = (m: Member) =>
    void call('PUT', path('/ferrite/v1/conductors/{host}/drained', m.name), { body: { drained: !m.drained } }).then(found.reload, (err: unknown) =>
      setError(errorText(err)),
    )
  return (
    <>
      <div className="heading">
        <h1>Conductors</h1>
        <p className="muted">{found.data && plural(members.length, 'conductor')}</p>
        <button type="button" className="button" onClick={found.reload}>
          Refresh
        </button>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {hold.data?.held && <Notice kind="error">This conductor was restored from a backup and acts on no machine yet: ferrite server resume.</Notice>}
      <Table
        label="Conductors"
        rows={members}
        id={(m) => m.name}
        columns={[
          { label: 'Name', of: (m) => visible(m.name) },
          { label: 'Alive', of: (m) => (m.alive ? <span className="good">✓ yes</span> : <span className="bad">✕ no</span>) },
          { label: 'Leads', of: (m) => (m.leader ? 'yes' : 'no') },
          { label: 'Group', wide: true, of: (m) => visible(m.group) || 'the default one' },
          { label: 'Address', wide: true, of: (m) => visible(m.address ?? '') },
          { label: 'Hardware types', wide: true, of: (m) => m.hardware_types.map(visible).join(', ') },
          { label: 'Seen', wide: true, of: (m) => dateTime(m.seen_at) },
          {
            label: 'Drained',
            of: (m) => (
              <>
                {m.drained ? 'yes' : 'no'}{' '}
                {may && (
                  <button type="button" onClick={() => drain(m)}>
                    {m.drained ? 'Let it lead' : 'Drain'}
                    <span className="visually-hidden"> {visible(m.name)}</span>
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
    </>
  )
}
