// Uploads of files, with progress: fetch tells none of what it sends, XMLHttpRequest does.
import { Fault, faultText, unreachable } from './fault'
import { session } from './session'

interface Options {
  signal: AbortSignal
  /** sent is called with the bytes that have gone so far. */
  sent: (bytes: number) => void
}

/** upload sends a file as the body of a PUT, and begins again after a login that ended meanwhile. */
export async function upload(to: string, file: File, o: Options): Promise<void> {
  for (;;) {
    const { status, text } = await send(to, file, o)
    if (status === 401) {
      await session.again()
      continue
    }
    if (status < 200 || status > 299) throw new Fault(status, faultText(text) || `The conductor answers ${status}.`)
    return
  }
}

function send(to: string, file: File, o: Options): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const end = () => request.abort()
    const done = () => o.signal.removeEventListener('abort', end)
    request.open('PUT', to)
    request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.setRequestHeader('X-Ferrite-Session', session.word() || 'none')
    request.upload.onprogress = (event) => o.sent(event.loaded)
    request.onload = () => {
      done()
      resolve({ status: request.status, text: request.responseText })
    }
    request.onabort = () => {
      done()
      reject(new Fault(unreachable, 'The upload was cancelled.'))
    }
    request.onerror = () => {
      done()
      reject(new Fault(unreachable, 'The connection ended before the whole file was sent. The conductor keeps nothing of it.'))
    }
    o.signal.addEventListener('abort', end)
    if (o.signal.aborted) return request.abort()
    request.send(file)
  })
}
