import { useState } from 'react'
import { machineStore } from '../../api/machine-store'
import type { Row } from '../../api/row'
import { session } from '../../api/session'
import { plural } from '../../lib/format'
import { all, verb } from '../../lib/verbs'
import { BulkDialog } from './bulk-dialog'
import type { Choice } from './choice'

/** Bulk is the bar of what is done with several machines; each verb shows its plan first. */
export function Bulk({ shown, chosen, choose }: { shown: Row[] } & Choice) {
  const [asked, setAsked] = useState('')
  const offered = all.filter((v) => session.may(v.rule))
  if (offered.length === 0 || (chosen.size === 0 && shown.length === 0)) return null
  const machines = [...chosen].map((uuid) => machineStore.rows.get(uuid)).filter((row): row is Row => row !== undefined)
  const v = verb(asked)
  return (
    <>
      <div className="bulk" role="region" aria-label="Several machines">
        {machines.length === 0 ? (
          <>
            <span className="muted">Several at once:</span>
            <button type="button" onClick={() => choose(new Set(shown.map((row) => row.uuid)))}>
              Choose all {shown.length.toLocaleString('en-US')} that are shown
            </button>
          </>
        ) : (
          <>
            <b>{plural(machines.length, 'machine')} chosen</b>
            <label>
              <span className="visually-hidden">Actions for them</span>
              <select value="" onChange={(event) => setAsked(event.target.value)}>
                <option value="">Do …</option>
                {offered.map((o) => (
                  <option key={o.id} value={o.id}>
                    {o.label}
                  </option>
                ))}
              </select>
            </label>
            <button type="button" className="quiet" onClick={() => choose(new Set())}>
              Choose none
            </button>
          </>
        )}
      </div>
      {v && <BulkDialog verb={v} machines={machines} onClose={() => setAsked('')} />}
    </>
  )
}
