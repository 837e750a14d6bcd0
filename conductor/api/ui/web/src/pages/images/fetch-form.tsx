import { useState, type FormEvent } from 'react'
import { call } from '../../api/client'
import { errorText } from '../../api/fault'
import { Notice } from '../../components/notice'
import { checksumError } from '../../lib/deploy'
import { nameError, nameOf } from '../../lib/upload'

/** FetchForm has the conductor fetch an image. The list of images shows the progress. */
export function FetchForm({ taken, began }: { taken: string[]; began: () => void }) {
  const [url, setURL] = useState('')
  const [typed, setTyped] = useState<string | null>(null)
  const [checksum, setChecksum] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const name = typed ?? nameOf(url.trim().split(/[?#]/)[0]!.split('/').at(-1) ?? '')
  const wrong = taken.includes(name.trim()) ? 'There is an image of this name. Delete it first, or choose another name.' : nameError(name.trim())
  const wrongSum = checksum.includes('://') ? 'Expected a checksum in hex.' : checksumError(checksum.trim())
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    setError('')
    const body = { name: name.trim(), url: url.trim(), ...(checksum.trim() === '' ? {} : { checksum: checksum.trim() }) }
    call('POST', '/ferrite/v1/images', { body })
      .then(began, (err: unknown) => setError(errorText(err)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="form" onSubmit={submit} aria-label="Fetch an image">
      <label>
        URL
        <input value={url} onChange={(e) => setURL(e.target.value)} type="url" required autoComplete="off" spellCheck={false} placeholder="https://images.example/debian-12.qcow2" />
        <small>The conductor fetches it, and finds out the format.</small>
      </label>
      <label>
        Name
        <input value={name} onChange={(e) => setTyped(e.target.value)} required autoComplete="off" spellCheck={false} aria-invalid={wrong !== ''} />
        {wrong !== '' && <small className="bad">{wrong}</small>}
      </label>
      <label>
        Checksum
        <input value={checksum} onChange={(e) => setChecksum(e.target.value)} autoComplete="off" spellCheck={false} aria-invalid={wrongSum !== ''} />
        <small className={wrongSum ? 'bad' : ''}>{wrongSum || 'sha256 or sha512 in hex. Left empty: it is not compared.'}</small>
      </label>
      {error !== '' && <Notice kind="error">{error}</Notice>}
      <div className="row">
        <button className="primary" disabled={busy || wrong !== '' || wrongSum !== ''}>
          Fetch
        </button>
      </div>
    </form>
  )
}
