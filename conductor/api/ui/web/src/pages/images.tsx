import { useEffect, useState, type FormEvent } from 'react'
import { call, get, path } from '../api/client'
import { errorText } from '../api/fault'
import { session } from '../api/session'
import type { Answer } from '../api/types'
import { DeleteDialog } from '../components/delete-dialog'
import { Empty, Failed, Notice } from '../components/notice'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { bytes, dateTime, plural, visible } from '../lib/format'
import { takenNames } from '../lib/upload'
import { UploadForm } from './images/upload-form'

type Image = Answer<'GET /ferrite/v1/images'>['images'][number]

/** progressOf is how much of an image is there; its size is not always known before. */
const progressOf = (p: { done: number; total: number }): string =>
  p.total > 0 ? `${bytes(p.done)} of ${bytes(p.total)}` : bytes(p.done)

/** ImagesPage is the images that the conductor keeps: each can be deployed by its name. */
export function ImagesPage() {
  const found = useData((signal) => get<{ images: Image[] }>('/ferrite/v1/images', undefined, signal), [])
  const [deleting, setDeleting] = useState<Image | null>(null)
  const [error, setError] = useState('')
  const images = found.data?.images ?? []
  const adding = images.some((i) => i.state === 'adding')
  useEffect(() => {
    if (!adding) return
    const timer = setInterval(found.reload, 2000)
    return () => clearInterval(timer)
  }, [adding, found.reload])
  const fetchImage = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const body: Record<string, string> = {}
    for (const key of ['name', 'url', 'checksum']) {
      const text = String(form.get(key) ?? '').trim()
      if (text !== '') body[key] = text
    }
    call('POST', '/ferrite/v1/images', { body }).then(
      () => {
        setError('')
        found.reload()
      },
      (err: unknown) => setError(errorText(err)),
    )
  }
  return (
    <>
      <div className="heading">
        <h1>Images</h1>
        <p className="muted">{found.data && plural(images.length, 'image')}</p>
        <button type="button" className="button" onClick={found.reload}>
          Refresh
        </button>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && images.length === 0 && <Empty>The conductor keeps no image. Upload a file, or have the conductor fetch one from a URL.</Empty>}
      {images.length > 0 && (
        <Table
          label="Images"
          rows={images}
          id={(i) => i.uuid}
          columns={[
            { label: 'Name', of: (i) => visible(i.name) },
            { label: 'State', of: (i) => (i.error ? <span className="bad">✕ {visible(i.error)}</span> : `${visible(i.state)}${i.progress ? `, ${progressOf(i.progress)}` : ''}`) },
            { label: 'Format', of: (i) => visible([i.format, i.compression].filter(Boolean).join(', ')) },
            { label: 'Size', number: true, of: (i) => bytes(i.size) },
            { label: 'On a disk', wide: true, number: true, of: (i) => (i.virtual_size > 0 ? bytes(i.virtual_size) : '') },
            { label: 'Owner', wide: true, of: (i) => visible(i.owner ?? '') },
            { label: 'Added', wide: true, short: true, of: (i) => dateTime(i.created_at) },
            {
              label: 'Delete',
              of: (i) =>
                session.may('ferrite:image:delete', i.owner ?? '') && (
                  <button type="button" aria-label={`Delete ${visible(i.name)}`} onClick={() => setDeleting(i)}>
                    Delete
                  </button>
                ),
            },
          ]}
        />
      )}
      {session.may('ferrite:image:upload') && <UploadForm taken={takenNames(images, session.get().session?.project ?? '')} uploaded={found.reload} />}
      {session.may('ferrite:image:fetch') && (
        <form className="form" onSubmit={fetchImage}>
          <h2>Fetch an image from a URL</h2>
          <label>
            Name
            <input name="name" required autoComplete="off" spellCheck={false} />
          </label>
          <label>
            URL
            <input name="url" type="url" required autoComplete="off" spellCheck={false} />
          </label>
          <label>
            Checksum
            <input name="checksum" autoComplete="off" spellCheck={false} />
            <small>sha256 or sha512 in hex. The conductor finds out the format.</small>
          </label>
          {error !== '' && <Notice kind="error">{error}</Notice>}
          <div className="row">
            <button className="primary">Fetch</button>
          </div>
        </form>
      )}
      {deleting && (
        <DeleteDialog
          name={deleting.name}
          danger="Its bytes are deleted. Machines that name it cannot be deployed or rebuilt."
          send={() => call('DELETE', path('/ferrite/v1/images/{image}', deleting.uuid))}
          onClose={() => setDeleting(null)}
          deleted={found.reload}
        />
      )}
    </>
  )
}
