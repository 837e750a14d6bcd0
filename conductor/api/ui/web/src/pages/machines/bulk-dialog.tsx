import { useMemo, useRef, useState } from 'react'
import { errorText } from '../../api/fault'
import { ask, type Arguments } from '../../api/machine'
import type { Row } from '../../api/row'
import { session } from '../../api/session'
import { Confirm } from '../../components/confirm'
import { Dialog } from '../../components/dialog'
import { Notice } from '../../components/notice'
import { plural, visible } from '../../lib/format'
import { label, sorted } from '../../lib/order'
import { plan, type Verb } from '../../lib/verbs'
import { VerbFields } from '../machine/verb-fields'
import { inParallel } from '../../lib/parallel'

/** most machines that are asked at a time. */
const atATime = 4

/** BulkDialog shows what a verb would do with several machines, asks, and shows what became of each. */
export function BulkDialog({ verb: v, machines, onClose }: { verb: Verb; machines: Row[]; onClose: () => void }) {
  // the plan that was shown is the one that is carried out, whatever the events say meanwhile
  const [shown] = useState(machines)
  const made = useMemo(() => plan(v, shown, (m) => session.may(v.rule, m.owner)), [v, shown])
  const [typed, setTyped] = useState('')
  const [args, setArgs] = useState<Arguments | null>({})
  const [results, setResults] = useState<Map<string, string>>(new Map())
  const [running, setRunning] = useState(false)
  const end = useRef(false)
  const count = String(made.asked.length)
  const done = results.size > 0 && !running

  const run = async () => {
    setRunning(true)
    await inParallel(made.asked, atATime, async (m) => {
      if (end.current) return
      const result = await ask(v, m.uuid, args ?? {}).then(
        () => '',
        (err: unknown) => (errorText(err)),
      )
      setResults((now) => new Map(now).set(m.uuid, result))
    })
    setRunning(false)
  }
  const failed = made.asked.filter((m) => (results.get(m.uuid) ?? '') !== '')
  return (
    <Dialog title={`${v.label} ${plural(shown.length, 'machine')}`} onClose={onClose} wide>
      <h3>The plan</h3>
      <p>
        <b>{plural(made.asked.length, 'machine')}</b> will be asked to: {v.means.toLowerCase().replace(/\.$/, '')}.
      </p>
      <Names rows={made.asked} results={results} />
      {[...made.left].map(([why, rows]) => (
        <div key={why}>
          <p>
            <b>{plural(rows.length, 'machine')}</b> will not be asked: {why}.
          </p>
          <Names rows={rows} results={new Map()} />
        </div>
      ))}
      {results.size === 0 && made.asked.length > 0 && (
        <>
          <VerbFields verb={v} onChange={setArgs} />
          {v.danger !== '' && <Confirm danger={v.danger} text={count} value={typed} onChange={setTyped} />}
        </>
      )}
      {running && <p role="status">{`${results.size} of ${made.asked.length} were asked.`}</p>}
      {done && (
        <Notice kind={failed.length > 0 ? 'error' : 'good'}>
          {failed.length > 0 ? `${plural(failed.length, 'machine')} refused; the reasons stand at their names.` : 'All accepted the request. They continue by themselves.'}
        </Notice>
      )}
      <div className="row">
        {done ? (
          <button type="button" className="primary" onClick={onClose}>
            Close
          </button>
        ) : (
          <>
            <button
              type="button"
              className={v.danger !== '' ? 'danger' : 'primary'}
              disabled={running || made.asked.length === 0 || args === null || (v.danger !== '' && typed !== count)}
              onClick={() => void run()}
            >
              {v.label} {plural(made.asked.length, 'machine')}
            </button>
            <button
              type="button"
              onClick={() => {
                end.current = true
                onClose()
              }}
            >
              Cancel
            </button>
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Names lists machines, at most a hundred, with what became of each. */
function Names({ rows, results }: { rows: Row[]; results: Map<string, string> }) {
  const first = useMemo(() => sorted(rows, 'name').slice(0, 100), [rows])
  if (rows.length === 0) return null
  return (
    <ul className="names" tabIndex={0} aria-label="Machines of the plan">
      {first.map((m) => {
        const result = results.get(m.uuid)
        return (
          <li key={m.uuid} className={result === undefined ? undefined : result === '' ? 'good' : 'bad'}>
            {visible(label(m))}
            {result !== undefined && (result === '' ? ' ✓ asked' : `: ${visible(result)}`)}
          </li>
        )
      })}
      {rows.length > first.length && <li className="muted">and {(rows.length - first.length).toLocaleString('en-US')} more</li>}
    </ul>
  )
}
