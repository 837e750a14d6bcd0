import { useState } from 'react'
import { errorText } from '../api/fault'
import { visible } from '../lib/format'
import { Confirm } from './confirm'
import { Dialog } from './dialog'
import { Notice } from './notice'

interface Props {
  /** name is shown, and typed where there is a danger. */
  name: string
  /** danger is what the deletion destroys besides; without it nothing is typed. */
  danger?: string
  send: () => Promise<unknown>
  onClose: () => void
  /** deleted is called when the conductor has agreed. */
  deleted: () => void
}

/** DeleteDialog asks before something is deleted. */
export function DeleteDialog({ name, danger, send, onClose, deleted }: Props) {
  const [typed, setTyped] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = () => {
    setBusy(true)
    setError('')
    send().then(
      () => {
        deleted()
        onClose()
      },
      (err: unknown) => {
        setError(errorText(err))
        setBusy(false)
      },
    )
  }
  return (
    <Dialog title={`Delete ${visible(name)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {danger ? <Confirm danger={danger} text={name} value={typed} onChange={setTyped} /> : <p>This cannot be undone.</p>}
        {error !== '' && <Notice kind="error">{error}</Notice>}
        <div className="row">
          <button className="danger" disabled={busy || (danger !== undefined && typed !== name)}>
            Delete
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
