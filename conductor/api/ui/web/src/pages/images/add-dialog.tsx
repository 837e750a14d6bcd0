import { useState } from 'react'
import { session } from '../../api/session'
import { Dialog } from '../../components/dialog'
import { takenNames } from '../../lib/upload'
import { FetchForm } from './fetch-form'
import { UploadForm } from './upload-form'

/** AddDialog adds an image: a file of this computer, or one that the conductor fetches. */
export function AddDialog({ images, changed, onClose }: { images: { name: string; owner?: string }[]; changed: () => void; onClose: () => void }) {
  const ways = [
    { id: 'upload', label: 'A file of this computer', rule: 'ferrite:image:upload' },
    { id: 'fetch', label: 'From a URL', rule: 'ferrite:image:fetch' },
  ].filter((way) => session.may(way.rule))
  const [way, setWay] = useState(ways[0]?.id)
  const taken = takenNames(images, session.get().session?.project ?? '')
  return (
    <Dialog title="Add an image" onClose={onClose}>
      {ways.length > 1 && (
        <div className="chips" role="group" aria-label="Where the image is">
          {ways.map((w) => (
            <button key={w.id} type="button" className="chip" aria-pressed={way === w.id} onClick={() => setWay(w.id)}>
              {w.label}
            </button>
          ))}
        </div>
      )}
      {way === 'upload' ? <UploadForm taken={taken} uploaded={changed} /> : <FetchForm taken={taken} began={() => (changed(), onClose())} />}
    </Dialog>
  )
}
