import { useEffect, useState } from 'react'
import { errorText } from '../api/fault'
import { visible } from '../lib/format'
import { Notice } from './notice'

interface Props {
  label: string
  text: string
  /** check asks the conductor whether it would take the text; nothing is stored. */
  check: (text: string, signal: AbortSignal) => Promise<unknown>
  save: (text: string) => Promise<unknown>
  saved: () => void
  button: string
  rows?: number
}

/** DocumentEditor changes a document as text. The conductor checks it as it is typed. */
export function DocumentEditor({ label, text: before, check, save, saved, button, rows = 20 }: Props) {
  const [text, setText] = useState(before)
  const [wrong, setWrong] = useState<string | null>(null)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const differs = text !== before
  useEffect(() => {
    if (!differs) return setWrong('') // the audit has each request
    setWrong(null)
    const end = new AbortController()
    const wait = setTimeout(() => {
      check(text, end.signal).then(
        () => setWrong(''),
        (err: unknown) => !end.signal.aborted && setWrong(errorText(err)),
      )
    }, 800)
    return () => {
      clearTimeout(wait)
      end.abort()
    }
  }, [text])
  const submit = () => {
    setBusy(true)
    setError('')
    save(text)
      .then(saved, (err: unknown) => setError(errorText(err)))
      .finally(() => setBusy(false))
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label>
        {label}
        <textarea className="code" rows={rows} value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} aria-invalid={Boolean(wrong)} aria-describedby="document-check" />
      </label>
      <p id="document-check" role="status" className={wrong ? 'bad' : 'muted'}>
        {wrong === null ? 'Checking …' : wrong === '' ? (differs ? 'The conductor would take this document.' : 'Nothing differs.') : visible(wrong)}
      </p>
      {error !== '' && <Notice kind="error">{error}</Notice>}
      <div className="row">
        <button className="primary" disabled={busy || wrong !== '' || !differs}>
          {button}
        </button>
      </div>
    </form>
  )
}
