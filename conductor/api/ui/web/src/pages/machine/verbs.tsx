import { useState } from 'react'
import { errorText } from '../../api/fault'
import { ask, ferrite, type Arguments } from '../../api/machine'
import { get } from '../../api/client'
import { session } from '../../api/session'
import type { Answer, Node } from '../../api/types'
import { Confirm } from '../../components/confirm'
import { Dialog } from '../../components/dialog'
import { Notice } from '../../components/notice'
import { useData } from '../../hooks/use-data'
import { go } from '../../hooks/use-route'
import type { Machine } from '../../lib/classify'
import { imageOf } from '../../lib/deploy'
import { visible } from '../../lib/format'
import { label } from '../../lib/order'
import { address } from '../../lib/route'
import { all, reason, refused, type Verb } from '../../lib/verbs'
import { VerbFields } from './verb-fields'

/** Verbs are the buttons of what can be asked of a machine now. What one may not do is not there. */
export function Verbs({ machine, node, changed }: { machine: Machine; node: Node; changed: () => void }) {
  const [open, setOpen] = useState<Verb | null>(null)
  const offered = all.filter((v) => session.may(v.rule, machine.owner, node.lessee ?? '') && refused(v, machine) === '')
  if (offered.length === 0) return null
  const group = (kinds: Verb['kind'][]) => offered.filter((v) => kinds.includes(v.kind))
  return (
    <div className="verbs">
      <div className="row" role="group" aria-label="Verbs of its state">
        {group(['provision']).map((v) => (
          <Button key={v.id} verb={v} machine={machine} open={setOpen} />
        ))}
      </div>
      <div className="row" role="group" aria-label="Power and service">
        {group(['power', 'maintenance', 'delete']).map((v) => (
          <Button key={v.id} verb={v} machine={machine} open={setOpen} />
        ))}
      </div>
      {open && <VerbDialog verb={open} machine={machine} node={node} onClose={() => setOpen(null)} changed={changed} />}
    </div>
  )
}

const Button = ({ verb: v, machine, open }: { verb: Verb; machine: Machine; open: (v: Verb) => void }) => (
  <button type="button" title={reason(v, machine)} className={v.danger === '' ? '' : 'careful'} onClick={() => open(v)}>
    {v.label}
  </button>
)

/** VerbDialog asks for the arguments of a verb, and for the machine's name where something is destroyed. */
function VerbDialog({ verb: v, machine, node, onClose, changed }: { verb: Verb; machine: Machine; node: Node; onClose: () => void; changed: () => void }) {
  const [args, setArgs] = useState<Arguments | null>(v.form === 'rescue' || v.form === 'steps' ? null : {})
  const [typed, setTyped] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const name = label(machine)
  const steps = useData(async (signal) => {
    if (v.form !== 'steps') return []
    const answer = await get<Answer<'GET /ferrite/v1/nodes/{node}/steps'>>(ferrite(machine.uuid, '/steps'), undefined, signal)
    return [...new Set(answer.steps.map((s) => `${s.interface}.${s.step}`))].sort()
  }, [v.id])
  const send = () => {
    setBusy(true)
    setError('')
    ask(v, machine.uuid, args ?? {}).then(
      () => {
        onClose()
        if (v.kind === 'delete') go(address([]))
        else changed()
      },
      (err: unknown) => {
        setError(errorText(err))
        setBusy(false)
      },
    )
  }
  return (
    <Dialog title={`${v.label} ${visible(name)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p>{sentence(reason(v, machine))}</p>
        <VerbFields verb={v} onChange={setArgs} steps={steps.data ?? []} image={imageOf(node.instance_info)} />
        {v.danger !== '' && <Confirm danger={v.danger} text={name} value={typed} onChange={setTyped} />}
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className={v.danger === '' ? 'primary' : 'danger'} disabled={busy || args === null || (v.danger !== '' && typed !== name)}>
            {v.label}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`
