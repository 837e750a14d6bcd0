import { useState } from 'react'
import { errorText } from '../../api/fault'
import { patchNode } from '../../api/machine'
import { session } from '../../api/session'
import type { Node } from '../../api/types'
import { Dialog } from '../../components/dialog'
import { Notice } from '../../components/notice'
import { asText, visible } from '../../lib/format'
import { differences, editable } from '../../lib/patch'
import type { TabProps } from '../machine'

/** Fields are all fields of the node, and a form that changes them. */
export function Fields({ node, reload }: TabProps) {
  const [editing, setEditing] = useState(false)
  const names = Object.keys(node).filter((name) => !['links', 'ports', 'portgroups', 'states', 'volume'].includes(name))
  return (
    <section aria-label="All fields">
      {session.may('baremetal:node:update', node.owner ?? '', node.lessee ?? '') && (
        <p>
          <button type="button" onClick={() => setEditing(true)}>
            Change fields
          </button>
        </p>
      )}
      <dl className="all-fields">
        {names.map((name) => {
          const value = node[name as keyof Node] as unknown
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'object' && value !== null ? <pre>{visible(JSON.stringify(value, null, 2))}</pre> : asText(value)}</dd>
            </div>
          )
        })}
      </dl>
      {editing && <EditDialog node={node} onClose={() => setEditing(false)} changed={reload} />}
    </section>
  )
}

/** EditDialog changes fields as one document of JSON; only what differs is sent. Passwords are shown as ****** and stay as they are. */
function EditDialog({ node, onClose, changed }: { node: Node; onClose: () => void; changed: () => void }) {
  const [before] = useState(() => Object.fromEntries(editable.filter((name) => name in node).map((name) => [name, node[name] ?? null])))
  const [text, setText] = useState(() => JSON.stringify(before, null, 2))
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  let changes: ReturnType<typeof differences> = []
  let wrong = ''
  try {
    changes = differences(before, JSON.parse(text))
  } catch (err) {
    wrong = (err as Error).message
  }
  const save = () => {
    setBusy(true)
    patchNode(node.uuid ?? '', changes).then(
      () => {
        changed()
        onClose()
      },
      (err: unknown) => {
        setError(errorText(err))
        setBusy(false)
      },
    )
  }
  return (
    <Dialog title={`Change ${visible(node.name || node.uuid || '')}`} onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <label>
          Fields, as JSON
          <textarea className="code" rows={18} value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} aria-invalid={wrong !== ''} aria-describedby="changes" />
        </label>
        <div id="changes">
          {wrong !== '' ? (
            <p className="bad">{wrong}</p>
          ) : changes.length === 0 ? (
            <p className="muted">Nothing differs.</p>
          ) : (
            <ul>
              {changes.map((c) => (
                <li key={c.path}>
                  <code>
                    {c.op === 'remove' ? 'remove' : 'set'} {c.path}
                    {c.op !== 'remove' && ` = ${asText(c.value)}`}
                  </code>
                </li>
              ))}
            </ul>
          )}
        </div>
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className="primary" disabled={busy || wrong !== '' || changes.length === 0}>
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
