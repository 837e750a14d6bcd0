import { useEffect, useState } from 'react'
import { call, get, path } from '../api/client'
import { session } from '../api/session'
import type { Answer } from '../api/types'
import { DeleteDialog } from '../components/delete-dialog'
import { Empty, Failed } from '../components/notice'
import { Progress } from '../components/progress'
import { Table } from '../components/table'
import { useData } from '../hooks/use-data'
import { bytes, dateTime, plural, visible } from '../lib/format'
import { AddDialog } from './images/add-dialog'

type Image = Answer<'GET /ferrite/v1/images'>['images'][number]

/** ImageState is the state of an image, with a bar while it arrives. */
const ImageState = ({ image: i }: { image: Image }) =>
  i.error ? (
    <span className="bad">✕ {visible(i.error)}</span>
  ) : i.progress ? (
    <Progress done={i.progress.done} total={i.progress.total} what={`${visible(i.name)}, ${visible(i.state)}`} />
  ) : (
    visible(i.state)
  )

/** ImagesPage is the images that the conductor keeps: each can be deployed by its name. */
export function ImagesPage() {
  const found = useData((signal) => get<{ images: Image[] }>('/ferrite/v1/images', undefined, signal), [])
  const [deleting, setDeleting] = useState<Image | null>(null)
  const [open, setOpen] = useState(false)
  const images = found.data?.images ?? []
  const adding = images.some((i) => i.state === 'adding')
  useEffect(() => {
    if (!adding) return
    const timer = setInterval(found.reload, 2000)
    return () => clearInterval(timer)
  }, [adding, found.reload])
  const may = session.may('ferrite:image:upload') || session.may('ferrite:image:fetch')
  return (
    <>
      <div className="heading">
        <h1>Images</h1>
        <p className="muted">{found.data && plural(images.length, 'image')}</p>
        <span className="actions">
          <button type="button" onClick={found.reload}>
            Refresh
          </button>
          {may && (
            <button type="button" className="primary" onClick={() => setOpen(true)}>
              Add an image
            </button>
          )}
        </span>
      </div>
      <Failed error={found.error} retry={found.reload} />
      {found.data && images.length === 0 && <Empty>The conductor keeps no image. Add one: a file of this computer, or one that the conductor fetches from a URL.</Empty>}
      {images.length > 0 && (
        <Table
          label="Images"
          rows={images}
          id={(i) => i.uuid}
          columns={[
            { label: 'Name', of: (i) => visible(i.name) },
            { label: 'State', of: (i) => <ImageState image={i} /> },
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
      {open && <AddDialog images={images} changed={found.reload} onClose={() => setOpen(false)} />}
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
