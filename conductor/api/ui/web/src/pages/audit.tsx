import { useState } from 'react'
import { auditLines } from '../api/client'
import { Empty, Failed } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { setQuery, useRoute } from '../hooks/use-route'
import { changes, has, type Line } from '../lib/audit'
import { asText, dateTime, visible } from '../lib/format'

/** readAll reads the newest entries, the newest first. */
const readAll = (signal: AbortSignal): Promise<Line[]> => auditLines<Line>(20_000, signal).then((lines) => lines.reverse())

/** AuditPage is who asked for what, the newest first. */
export function AuditPage() {
  const { query } = useRoute()
  const words = query.get('find') ?? ''
  const [most, setMost] = useState(200)
  const found = useData(readAll, [])
  const lines = (found.data ?? []).filter((line) => has(line.entry, words))
  return (
    <>
      <div className="heading">
        <h1>Audit</h1>
        <p className="muted">{found.data && `${lines.length.toLocaleString('en-US')} of ${found.data.length.toLocaleString('en-US')} entries`}</p>
        <button type="button" className="button" onClick={found.reload}>
          Refresh
        </button>
      </div>
      <label className="find long">
        <span className="visually-hidden">Find in the audit</span>
        <input type="search" placeholder="Find a user, address, path or machine" value={words} onChange={(e) => setQuery({ find: e.target.value })} />
      </label>
      <Failed error={found.error} retry={found.reload} />
      {found.data && lines.length === 0 && <Empty>No entry has these words.</Empty>}
      {lines.length > 0 && (
        <Table
          label="Audit"
          rows={lines.slice(0, most)}
          id={(l) => String(l.id)}
          columns={[
            { label: 'Time', short: true, of: (l) => dateTime(l.entry.at) },
            { label: 'User', short: true, of: (l) => visible(l.entry.user ?? '?') },
            { label: 'From', wide: true, short: true, of: (l) => visible(l.entry.from ?? '') },
            {
              label: 'Request',
              of: (l) => (
                <code className="request">
                  {visible(l.entry.method ?? '')} {visible(l.entry.path ?? '')}
                </code>
              ),
            },
            { label: 'Answer', of: (l) => <span className={(l.entry.status ?? 0) >= 400 ? 'bad' : ''}>{asText(l.entry.status)}</span> },
            { label: 'Changed', wide: true, of: (l) => visible(changes(l.entry)) },
          ]}
        />
      )}
      {lines.length > most && (
        <button type="button" onClick={() => setMost(most + 500)}>
          Show older ones ({lines.length - most})
        </button>
      )}
    </>
  )
}
