import { useState } from 'react'
import { all, call, path } from '../api/client'
import { errorText } from '../api/fault'
import { session } from '../api/session'
import { DeleteDialog } from '../components/delete-dialog'
import { Dialog } from '../components/dialog'
import { Link } from '../components/link'
import { Empty, Failed, Notice } from '../components/notice'
import { Table, type Column } from '../components/table'
import { useData } from '../hooks/use-data'
import { useEvents } from '../hooks/use-events'
import { useRoute } from '../hooks/use-route'
import { asText, dateTime, plural, visible } from '../lib/format'
import { kinds, type Kind } from '../lib/records'
import { address } from '../lib/route'

type Record_ = Record<string, unknown> & { uuid: string }

/** RecordsPage lists records of one kind, makes new ones, and deletes them. */
export function RecordsPage() {
  const { page } = useRoute()
  const kind = kinds[page]
  return kind ? <Records key={page} kind={kind} /> : null
}

function Records({ kind }: { kind: Kind }) {
  const found = useData((signal) => all<Record_>(kind.path, kind.key, { detail: 'true' }, signal).catch(() => all<Record_>(kind.path, kind.key, {}, signal)), [kind.path])
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<Record_ | null>(null)
  useEvents(
    (events) => events.some((e) => e.record) && found.reload(),
    () => found.reload(),
  )
  const columns: Column<Record_>[] = kind.columns.map((c) => ({
    label: c.label,
    wide: c.wide ?? false,
    of: (r) => cell(r[c.field], c),
  }))
  if (session.may(kind.rules.delete))
    columns.push({
      label: 'Delete',
      of: (r) => (
        <button type="button" onClick={() => setDeleting(r)} aria-label={`Delete ${nameOf(r)}`}>
          Delete
        </button>
      ),
    })
  const rows = found.data ?? []
  return (
    <>
      <div className="heading">
        <h1>{kind.title}</h1>
        <p className="muted">{found.data && plural(rows.length, kind.noun)}</p>
        {session.may(kind.rules.create) && (
          <button type="button" className="button" onClick={() => setMaking(true)}>
            Add
          </button>
        )}
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && rows.length === 0 && <Empty>There are none. {kind.means}</Empty>}
      {rows.length > 0 && <Table label={kind.title} rows={rows} id={(r) => r.uuid} columns={columns} />}
      {making && <AddDialog kind={kind} onClose={() => setMaking(false)} added={found.reload} />}
      {deleting && (
        <DeleteDialog
          name={nameOf(deleting)}
          send={() => call('DELETE', path(`${kind.path}/{record}`, deleting.uuid))}
          onClose={() => setDeleting(null)}
          deleted={found.reload}
        />
      )}
    </>
  )
}

const nameOf = (r: Record_): string => visible(asText(r['name']) || asText(r['description']) || r.uuid)

function cell(value: unknown, c: Kind['columns'][number]) {
  if (c.time) return dateTime(value as string | null)
  if (c.machine && typeof value === 'string') return <Link to={address(['machines', value])}>{visible(value)}</Link>
  if (c.field === 'steps' && Array.isArray(value))
    return (value as { interface?: string; step?: string }[]).map((s) => `${asText(s.interface)}.${asText(s.step)}`).join(', ')
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) return value.map(asText).join(', ')
  if (value === true) return 'yes'
  return value === false ? 'no' : asText(value)
}

function AddDialog({ kind, onClose, added }: { kind: Kind; onClose: () => void; added: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(kind.example, null, 2))
  const [error, setError] = useState('')
  let body: unknown
  let wrong = ''
  try {
    body = JSON.parse(text)
  } catch (err) {
    wrong = (err as Error).message
  }
  const send = () =>
    void call('POST', kind.path, { body }).then(
      () => {
        added()
        onClose()
      },
      (err: unknown) => setError(errorText(err)),
    )
  return (
    <Dialog title={`Add: ${kind.noun}`} onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p>{kind.means}</p>
        <label>
          Fields, as JSON
          <textarea className="code" rows={14} value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} aria-invalid={wrong !== ''} aria-describedby="record-check" />
          <small id="record-check" className={wrong === '' ? '' : 'bad'}>
            {wrong || 'The conductor checks the fields.'}
          </small>
        </label>
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className="primary" disabled={wrong !== ''}>
            Add
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
