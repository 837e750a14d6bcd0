import { useEffect, useRef, useState } from 'react'
import { send } from '../../api/client'
import { errorText } from '../../api/fault'
import { ferrite } from '../../api/machine'
import { Empty, Failed } from '../../components/notice'
import { visible } from '../../lib/format'
import type { TabProps } from '../machine'

/** most is how much of a log is in the page, in characters. */
const most = 1_000_000

/** Log is what kernel and agent of the machine's last boot have logged, and log. */
export function Log({ node }: TabProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const [ended, setEnded] = useState(false)
  const [turn, setTurn] = useState(0)
  const [wrap, setWrap] = useState(true)
  const ref = useRef<HTMLPreElement>(null)
  const bottom = useRef(true)
  useEffect(() => {
    const end = new AbortController()
    setText('')
    setError('')
    setEnded(false)
    void follow(node.uuid ?? '', end.signal, (piece) => setText((before) => (before + piece).slice(-most))).then(
      () => setEnded(true),
      (err: unknown) => !end.signal.aborted && setError(errorText(err)),
    )
    return () => end.abort()
  }, [node.uuid, turn])
  useEffect(() => {
    if (bottom.current && ref.current) ref.current.scrollTop = ref.current.scrollHeight
  }, [text])
  const missing = error !== '' && /no log|logged nothing|not found/i.test(error)
  return (
    <section aria-label="Log">
      {missing ? <Empty>{visible(error)}</Empty> : <Failed error={error} retry={() => setTurn(turn + 1)} />}
      {text === '' && error === '' && <Empty>{ended ? 'The machine has logged nothing yet.' : 'Nothing yet. Lines are shown as they come.'}</Empty>}
      <pre
        ref={ref}
        className={wrap ? 'log wrap' : 'log'}
        tabIndex={0}
        role="log"
        aria-label="Lines of the log"
        aria-live="off"
        hidden={text === ''}
        onScroll={(e) => {
          const box = e.currentTarget
          bottom.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40
        }}
      >
        {visible(text.replaceAll('\r\n', '\n'))}
      </pre>
      <div className="row">
        <label className="inline">
          <input type="checkbox" checked={wrap} onChange={(e) => setWrap(e.target.checked)} /> Wrap long lines
        </label>
        {ended && (
          <button type="button" onClick={() => setTurn(turn + 1)}>
            Reconnect
          </button>
        )}
        <a href={ferrite(node.uuid ?? '', '/logs')} download={`${node.name || node.uuid}.log`}>
          Download
        </a>
      </div>
    </section>
  )
}

async function follow(uuid: string, signal: AbortSignal, take: (piece: string) => void): Promise<void> {
  const answer = await send('GET', ferrite(uuid, '/logs'), { signal, query: { follow: 'true', tail: '2000' }, headers: { Accept: 'text/plain' } })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    take(value)
  }
}
