import { useEffect, useRef, useState, type FormEvent } from 'react'
import { path } from '../../api/client'
import { errorText } from '../../api/fault'
import { upload } from '../../api/upload'
import { Notice } from '../../components/notice'
import { Progress } from '../../components/progress'
import { checksumError } from '../../lib/deploy'
import { bytes, visible } from '../../lib/format'
import { nameError, nameOf, speed } from '../../lib/upload'

interface Sending {
  file: File
  done: number
  began: number
  now: number
}

/** UploadForm sends a file of this computer to the conductor, under a name. */
export function UploadForm({ taken, uploaded }: { taken: string[]; uploaded: () => void }) {
  const [name, setName] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [sending, setSending] = useState<Sending | null>(null)
  const [error, setError] = useState('')
  const [good, setGood] = useState('')
  const end = useRef<AbortController | null>(null)
  useEffect(() => () => end.current?.abort(), [])
  const wrong = taken.includes(name.trim()) ? 'There is an image of this name. Delete it first, or choose another name.' : nameError(name.trim())
  const [checksum, setChecksum] = useState('')
  const wrongSum = checksum.includes('://') ? 'Expected a checksum in hex.' : checksumError(checksum.trim())
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (!file) return
    const query = checksum.trim() === '' ? '' : `?${new URLSearchParams({ checksum: checksum.trim() })}`
    const began = Date.now()
    end.current = new AbortController()
    setError('')
    setGood('')
    setSending({ file, done: 0, began, now: began })
    upload(path('/ferrite/v1/images/{image}/file', name.trim()) + query, file, {
      signal: end.current.signal, sent: (done) => setSending({ file, done, began, now: Date.now() }),
    })
      .then(
        () => {
          setGood(`${visible(name.trim())} is uploaded.`)
          setName('')
        },
        (err: unknown) => setError(errorText(err)),
      )
      .finally(() => {
        setSending(null)
        uploaded()
      })
  }
  const pace = sending ? speed(sending.done, sending.file.size, (sending.now - sending.began) / 1000) : { rate: 0, left: 0 }
  return (
    <form className="form" onSubmit={submit} aria-label="Upload an image">
      <label>
        File of this computer
        <input
          type="file"
          required
          disabled={sending !== null}
          onChange={(event) => {
            const chosen = event.target.files?.[0] ?? null
            setFile(chosen)
            if (chosen && name === '') setName(nameOf(chosen.name))
          }}
        />
        <small>{file ? bytes(file.size) : 'raw, qcow2, an ISO, a kernel or a ramdisk. The conductor finds out the format.'}</small>
      </label>
      <label>
        Name
        <input value={name} onChange={(e) => setName(e.target.value)} required disabled={sending !== null} autoComplete="off" spellCheck={false} aria-invalid={wrong !== ''} />
        {wrong !== '' && <small className="bad">{wrong}</small>}
      </label>
      <label>
        Checksum
        <input value={checksum} onChange={(e) => setChecksum(e.target.value)} disabled={sending !== null} autoComplete="off" spellCheck={false} aria-invalid={wrongSum !== ''} />
        <small className={wrongSum ? 'bad' : ''}>{wrongSum || 'sha256 or sha512 in hex, which the file must have. Left empty: it is not compared.'}</small>
      </label>
      {sending && <Progress done={sending.done} total={sending.file.size} perSecond={pace.rate} left={pace.left} what={`Upload of ${visible(name)}`} />}
      {sending && sending.done === sending.file.size && <p role="status">Sent. The conductor checks and stores it.</p>}
      {error !== '' && <Notice kind="error">{error}</Notice>}
      {good !== '' && <Notice kind="good">{good}</Notice>}
      <div className="row">
        <button className="primary" disabled={sending !== null || file === null || wrong !== '' || wrongSum !== ''}>
          Upload
        </button>
        {sending && (
          <button type="button" onClick={() => end.current?.abort()}>
            Cancel
          </button>
        )}
      </div>
    </form>
  )
}
